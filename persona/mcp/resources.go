package mcp

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/odd-cli/odd/okf"
)

// atomScheme begins the uri of every atom's resource: odd://atom/ID, the id with
// its slashes, other signs escaped.
const atomScheme = "odd://atom/"

// markdown is the MIME type of an atom.
const markdown = "text/markdown"

// pageResources is how many atoms, or prompts, a list shows at once.
const pageResources = 100

// atomURI is the resource of an atom.
func atomURI(id okf.ID) string {
	parts := strings.Split(string(id), "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return atomScheme + strings.Join(parts, "/")
}

func (w World) addResources(s *sdk.Server) {
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "atom", Title: "An atom of the bundle", URITemplate: atomScheme + "{+id}", MIMEType: markdown,
		Description: "One atom as it stands: the block of its keys, then its text. Its _meta tells path, blob, confidence and trust tier.",
	}, func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return w.readAtom(ctx, r.Params.URI)
	})
}

// answerLists answers what a bundle that people edit cannot register beforehand: the
// lists of resources and of prompts, and a prompt itself.
func (w World) answerLists(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch p := req.GetParams().(type) {
		case *sdk.ListResourcesParams:
			if p == nil {
				p = &sdk.ListResourcesParams{}
			}
			return w.listAtoms(ctx, p.Cursor)
		case *sdk.ListPromptsParams:
			if p == nil {
				p = &sdk.ListPromptsParams{}
			}
			return w.listPrompts(ctx, p.Cursor)
		case *sdk.GetPromptParams:
			return w.rolePrompt(ctx, p)
		}
		return next(ctx, method, req)
	}
}

// pageAtoms is a page of the atoms that fit, by their ids, and the cursor behind it, "" at the
// end. A list goes on behind the last id that was told, whatever has come or gone since.
func (w World) pageAtoms(ctx context.Context, cursor string, fits func(*okf.Atom) bool) (list []*okf.Atom, next string, err error) {
	last, err := url.PathUnescape(cursor)
	if err != nil {
		return nil, "", invalidParams(errCursor)
	}
	g, err := w.Graph(ctx)
	if err != nil {
		return nil, "", invalidParams(err)
	}
	for _, a := range g.Atoms() {
		if fits(a) && (cursor == "" || string(a.ID) > last) {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *okf.Atom) int { return strings.Compare(string(a.ID), string(b.ID)) })
	if len(list) > pageResources {
		list = list[:pageResources]
		next = url.PathEscape(string(list[pageResources-1].ID))
	}
	return list, next, nil
}

func (w World) listAtoms(ctx context.Context, cursor string) (*sdk.ListResourcesResult, error) {
	list, next, err := w.pageAtoms(ctx, cursor, func(*okf.Atom) bool { return true })
	if err != nil {
		return nil, err
	}
	out := &sdk.ListResourcesResult{Cacheable: privateScope(), Resources: []*sdk.Resource{}, NextCursor: next}
	for _, a := range list {
		r := &sdk.Resource{URI: atomURI(a.ID), MIMEType: markdown, Meta: atomMeta(a)}
		r.Name, _ = cleanText(string(a.ID), false)
		r.Title, _ = cleanText(a.Title, true)
		r.Description, _ = cleanText(a.Description, true)
		out.Resources = append(out.Resources, r)
	}
	return out, nil
}

// atomMeta is what goes with every atom.
func atomMeta(a *okf.Atom) sdk.Meta {
	m := sdk.Meta{"odd/path": a.Path, "odd/blob": a.Blob, "odd/type": a.Type, "odd/confidence": a.Confidence().String(), "odd/tier": string(a.Tier())}
	for k, v := range m {
		m[k], _ = cleanText(v.(string), false)
	}
	return m
}

func (w World) readAtom(ctx context.Context, uri string) (*sdk.ReadResourceResult, error) {
	id, err := url.PathUnescape(strings.TrimPrefix(uri, atomScheme))
	if err != nil {
		return nil, invalidParams(errors.New("uri: " + err.Error()))
	}
	g, err := w.Graph(ctx)
	if err != nil {
		return nil, invalidParams(err)
	}
	a, err := g.Find(id)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "uri: " + showError(err)}
	}
	if len(a.Bytes()) == 0 {
		return nil, invalidParams(errors.New("uri: the file changed while it was read; try again"))
	}
	text, hits := cleanText(string(a.Bytes()), true)
	m := atomMeta(a)
	if len(hits) > 0 {
		m["odd/marked"] = hits
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: markdown, Text: text, Meta: m}}}, nil
}
