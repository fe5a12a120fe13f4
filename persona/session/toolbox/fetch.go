package toolbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// The bounds of one fetch.
const (
	fetchTime  = 15 * time.Second
	fetchBytes = 512_000
	fetchHops  = 5
)

// web is how pages are fetched.
type web struct {
	reachable func(netip.Addr) bool // may be connected to
	transport *http.Transport
}

// newWeb asks by https, at addresses of the open Internet, through no proxy.
func newWeb() *web {
	w := &web{reachable: isPublic}
	d := &net.Dialer{Timeout: fetchTime, Control: func(_, address string, _ syscall.RawConn) error { return w.checkAddress(address) }}
	w.transport = &http.Transport{DialContext: d.DialContext, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		TLSHandshakeTimeout: fetchTime, ResponseHeaderTimeout: fetchTime, MaxResponseHeaderBytes: 64 << 10}
	return w
}

// checkAddress is asked after the name was resolved, with the address itself, so that
// no name can stand for one inside.
func (w *web) checkAddress(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !w.reachable(at.Addr()) {
		return failWith("host_not_allowed", "the host stands at %s, which is no address of the open Internet", address)
	}
	return nil
}

// inside are blocks that the methods of netip.Addr do not name: carriers' own,
// benchmarks, documentation, reserved, and IPv6 that carries IPv4.
var inside = []string{"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10"}

// isPublic reports an address of the open Internet.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.Zone() != "" {
		return false
	}
	return !slices.ContainsFunc(inside, func(block string) bool { return netip.MustParsePrefix(block).Contains(a) })
}

// parseTarget reads an address of a form that may be fetched; its host is the grant's to judge.
func parseTarget(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.Opaque != "":
		return nil, policy.Refuse("host_not_allowed", "url: is not a whole address; begin it with https://")
	case u.User != nil || u.Port() != "" && u.Port() != "443":
		return nil, policy.Refuse("host_not_allowed", "url: holds a user or a port; leave them out")
	case secrets.RedactText(raw) != raw:
		return nil, policy.Refuse("host_not_allowed", "url: holds what looks like a credential, which is sent to no host; leave it out")
	}
	return u, nil
}

// fetchTools is the tool that reads a page of the web.
func fetchTools(b *Box) []entry {
	return []entry{{Tool: Tool{Name: "web_fetch", Description: "Reads a page of the web as text. The hosts are: " + strings.Join(b.o.Hosts, ", ")},
		kind: policy.Fetch, grant: "web-search", do: fetchPage, params: []param{{name: "url", kind: isText, must: true, about: "begins with https://"}}}}
}

func fetchPage(ctx context.Context, c *call) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	w := c.b.web
	u, err := parseTarget(c.args.getText("url"))
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: w.transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > fetchHops {
			return failWith("too_many_redirects", "more than %d redirects", fetchHops)
		}
		u, err := parseTarget(r.URL.String())
		if err != nil {
			return err
		}
		return c.b.o.Request.Permits(policy.Action{Kind: policy.Fetch, Host: u.Hostname()})
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", failWith("bad_arguments", "url: cannot be asked for")
	}
	req.Header.Set("User-Agent", "odd")
	req.Header.Set("Accept", "text/*, application/json, application/xml;q=0.5")
	res, err := client.Do(req)
	if err != nil {
		return "", explainFetch(err)
	}
	defer res.Body.Close()
	return readPage(res)
}

// explainFetch returns a rule's own denial where a rule was the cause.
func explainFetch(err error) error {
	var f *failure
	var no *policy.Refusal
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &no):
		return no
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return failWith("not_fetched", "%s", err.Error())
}

// readPage is what a response says, as text.
func readPage(res *http.Response) (string, error) {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	textual := strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "xml")
	if !textual {
		return "", failWith("not_text", "it is %q and no text", okf.Clip(kind, 80))
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, fetchBytes+1))
	if err != nil {
		return "", explainFetch(err)
	}
	note := ""
	if len(b) > fetchBytes {
		b, note = b[:fetchBytes], fmt.Sprintf(", the first %d bytes of it", fetchBytes)
	}
	text := string(b)
	if strings.HasSuffix(kind, "html") {
		text = stripHTML(text)
	}
	if res.StatusCode != http.StatusOK {
		return "", failWith("http_status", "%s%s\n%s", res.Status, note, text)
	}
	return fmt.Sprintf("%s, %s%s\n%s", res.Request.URL, kind, note, text), nil
}

// stripHTML is the text of a page of HTML: without tags, scripts and styles.
func stripHTML(html string) string {
	var out strings.Builder
	small := lowerASCII(html)
	for at := 0; at < len(html); {
		open := strings.IndexByte(html[at:], '<')
		if open < 0 {
			out.WriteString(html[at:])
			break
		}
		out.WriteString(html[at : at+open])
		at += open
		close := strings.Index(small[at:], closingTag(small[at:]))
		if close < 0 {
			break
		}
		if breaksLine(small[at:]) {
			out.WriteByte('\n')
		}
		at += close + len(closingTag(small[at:]))
	}
	entities := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&nbsp;", " ", "&amp;", "&")
	var lines []string
	for l := range strings.Lines(entities.Replace(out.String())) {
		if l = strings.Join(strings.Fields(l), " "); l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

// lowerASCII is s with ASCII letters in lower case, at the same places.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// closingTag is what ends the tag, or what must not be read as text, that tag begins with.
func closingTag(tag string) string {
	switch {
	case strings.HasPrefix(tag, "<!--"):
		return "-->"
	case strings.HasPrefix(tag, "<script"):
		return "</script>"
	case strings.HasPrefix(tag, "<style"):
		return "</style>"
	}
	return ">"
}

func breaksLine(tag string) bool {
	return slices.ContainsFunc([]string{"</", "<p", "<br", "<li", "<h", "<div", "<tr"}, func(s string) bool { return strings.HasPrefix(tag, s) })
}
