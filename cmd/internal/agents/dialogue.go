package agents

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/invoke"
)

// dialogue is a person at a terminal, or the lines of a pipe, who answers a
// session. The terminal edits the lines; odd reads whole ones.
type dialogue struct {
	env      console.Env
	progress *console.Progress
	lines    chan typedLine // nil before the first question
	who      string
	shown    int // says the person has seen
}

type typedLine struct {
	text string
	end  bool
}

var (
	errNobody = errors.New("nobody answered")
	errEnded  = errors.New("the person ended the dialogue")
)

const dialogueHelp = `An answer is a line or several; an empty line, or Ctrl-D, sends it.
  /budget  what the session has cost, and what is left
  /end     end here: the session has yielded, and its question stays open
  /help    this
Ctrl-C interrupts: the session is recorded as cancelled, with all that was said.
`

// answerTurn shows what the session said and takes the person's answer.
func (d *dialogue) answerTurn(ctx context.Context, t invoke.Turn) (string, error) {
	d.progress.ClearLine()
	d.who = t.Who
	d.showSays(t.Said)
	if !t.Aside {
		d.shown += len(t.Said)
	}
	if d.lines == nil {
		d.lines = make(chan typedLine)
		go d.readLines()
	}
	if !d.env.Keyboard {
		l, err := d.nextLine(ctx)
		if err == nil && l.end && l.text == "" {
			err = errNobody
		}
		return l.text, err
	}
	return d.askAtKeyboard(ctx, t)
}

// askAtKeyboard asks at a keyboard, as dialogueHelp says.
func (d *dialogue) askAtKeyboard(ctx context.Context, t invoke.Turn) (string, error) {
	fmt.Fprintf(d.env.Stderr, "  [%s; an empty line sends, /help]\n", describeLeft(t))
	var b strings.Builder
	for {
		fmt.Fprint(d.env.Stderr, "> ")
		l, err := d.nextLine(ctx)
		if err != nil {
			fmt.Fprintln(d.env.Stderr)
			return "", err
		}
		empty := strings.TrimSpace(b.String()) == ""
		switch text := strings.TrimSpace(l.text); {
		case empty && text == "/end":
			return "", errEnded
		case empty && text == "/budget":
			fmt.Fprintf(d.env.Stderr, "  %s\n", describeLeft(t))
		case empty && strings.HasPrefix(text, "/"):
			fmt.Fprint(d.env.Stderr, dialogueHelp)
		case empty && text == "" && l.end:
			return "", errNobody
		case text == "" && !empty, l.end:
			return strings.TrimSpace(b.String() + l.text), nil
		default:
			b.WriteString(l.text + "\n")
		}
	}
}

func (d *dialogue) nextLine(ctx context.Context) (typedLine, error) {
	select {
	case l, open := <-d.lines:
		if !open {
			l.end = true
		}
		return l, nil
	case <-ctx.Done():
		return typedLine{}, ctx.Err()
	}
}

// readLines reads lines for as long as somebody asks for them.
func (d *dialogue) readLines() {
	defer close(d.lines)
	in := bufio.NewReader(d.env.Stdin)
	for {
		text, err := in.ReadString('\n')
		end := err != nil
		d.lines <- typedLine{strings.TrimRight(text, "\r\n"), end}
		if end && (!d.env.Keyboard || !errors.Is(err, io.EOF)) {
			return
		}
	}
}

func (d *dialogue) showSays(list []deliver.Say) {
	for _, s := range list {
		text := okf.Visible(strings.TrimSpace(s.Text))
		if !d.env.Keyboard {
			console.Talk(d.env, "%s", text)
			continue
		}
		fmt.Fprintf(d.env.Stderr, "\n%s: %s\n", console.Cell(d.who), strings.ReplaceAll(text, "\n", "\n  "))
	}
}

func describeLeft(t invoke.Turn) string {
	if t.Aside {
		return "in the middle of a turn"
	}
	out := fmt.Sprintf("%d turns used", t.Used)
	if t.Turns > 0 {
		out = fmt.Sprintf("turn %d of %d", t.Used, t.Turns)
	}
	spent := "$" + budget.MicroUSD(t.Usage.Cost).String()
	if !t.Usage.CostKnown {
		spent = "an unknown cost"
	}
	if t.Cost > 0 {
		return fmt.Sprintf("%s, %s of $%s spent", out, spent, budget.MicroUSD(t.Cost))
	}
	return out + ", " + spent + " spent"
}
