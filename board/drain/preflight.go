package drain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/failover"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/persona/session/extract"
)

// Preflight lists what a drain would refuse the task t for, were it ready on the board
// as it is at tip: each with what to do about it. It writes nothing.
func Preflight(ctx context.Context, r *repo.Repo, o Options, tip repo.OID, t board.Task) ([]string, error) {
	d, err := readAt(r, o, tip)
	if err != nil {
		return nil, err
	}
	_, no := d.admission().findObstacles(t)
	row := t.Row
	row.State, row.Dependencies = board.Ready, nil // what it waits for is no refusal, but for what is not there
	var out []string
	if why := board.Eligible(&row, board.Index{}, d.Now()); why != "" {
		out = append(out, string(why))
	}
	for _, id := range t.Dependencies {
		if a, err := d.at.graph.Find(string(id)); err != nil {
			out = append(out, fmt.Sprintf("depends on %v", err))
		} else if a.Type != board.Type {
			out = append(out, fmt.Sprintf("depends on %s, which is not a task; change it with odd task edit %s --depends TASK", id, t.ID))
		}
	}
	for _, err := range no {
		out = append(out, strings.TrimPrefix(err.Error(), "task "+string(t.ID)+": "))
	}
	return out, nil
}

// admission answers whether a task may be drained now, and whether a session for it could work: its contract,
// its inputs, its agent and its programs.
type admission struct {
	contracts
	now        authority
	base       func() (repo.OID, error) // the commit that sessions work on
	unrecorded []failover.Try           // sessions that the ledger has not told yet
}

func (d *drain) admission() admission {
	return admission{d.contracts(), d.authority(), d.base, d.unrecorded}
}

// decide says whether t may run, apart from what stops every task: the lease, an emergency and a pause.
func (ad admission) decide(t board.Task) choice {
	ch := choice{task: t}
	if !isOffBoard(t) {
		if why := ad.now.checkEligible(t); why != nil {
			ch.no = []error{why}
			return ch
		}
	}
	ch.ready = true
	ch.bound, ch.no = ad.findObstacles(t)
	return ch
}

// findObstacles lists what keeps t from running, apart from its place on the board and what
// stops every task: the lease, the role, the contract, the inputs, the agent, the
// programs and the money. The contract is resolved as far as it goes. A person who asked for the session
// is told what speaks against role and contract as the contract's refusals.
func (ad admission) findObstacles(t board.Task) (bound, []error) {
	bind := ad.checkSpawnable
	if ad.Invoked {
		bind = ad.checkBindable
	}
	b, refused := bind(t)
	no := ad.now.checkCharter(t, b.Role)
	add := func(err error) {
		if err != nil {
			no = append(no, err)
		}
	}
	if !ad.Invoked {
		if t.Role == "" {
			add(refuse("floor", "task %s: the task has no role, and odd drain needs one; set it with odd task edit %[1]s --role ROLE", t.ID))
		} else if _, why := ad.now.compilePersona(t.Role); why != nil {
			add(refuse("floor", "task %s: %v", t.ID, why))
		}
		if len(refused) > 0 {
			add(refuse("contract", "task %s: %s", t.ID, describeRefusals(refused)))
		}
	} else if len(refused) > 0 {
		add(refused)
	}
	if b.Role == contract.General {
		add(ad.checkEditable(t))
	}
	add(ad.checkInputs(t))
	add(joinErrors(ad.checkEquipment(t), requireBudget(ad.now.cfg)))
	add(ad.checkInstalled(t))
	add(ad.checkReachable(t))
	if requireBudget(ad.now.cfg) == nil {
		add(ad.now.checkAffordable(t))
	}
	return b, no
}

// usesReader reports that the built-in reader may take t: a chain holds what each of its
// agents needs.
func (ad admission) usesReader(t board.Task) bool {
	return ad.Substrate == nil && slices.Contains(substrateNames(ad.at.agentChain(t)), "extract")
}

// checkEditable refuses a change of files where the agent cannot make any.
func (ad admission) checkEditable(t board.Task) error {
	if !ad.usesReader(t) || !ad.at.changesFiles(t) {
		return nil
	}
	return refuse("substrate-reads-only", "task %s: the built-in offline reader (extract) only turns documents into atoms and cannot change %s; %s", t.ID, strings.Join(t.Paths, ", "), agent.Other)
}

// checkInputs refuses a task whose inputs are not there, or, where the built-in reader is
// to read them, of which it can read none. It looks at what the session would be given.
func (ad admission) checkInputs(t board.Task) error {
	base, err := ad.base()
	if err != nil {
		return err
	}
	files, err := ad.repo.Tree(base)
	if err != nil {
		return err
	}
	var lacks []string
	if ad.usesReader(t) && len(t.Inputs) == 0 && ad.at.changesFiles(t) {
		return nil // checkEditable tells
	} else if ad.usesReader(t) && len(t.Inputs) == 0 {
		return refuse("inputs", "task %s: it has no inputs, and the built-in offline reader (extract) reads nothing else; name documents with odd task edit %[1]s --input PATH", t.ID)
	} else if ad.usesReader(t) {
		lacks = extract.Lacking(files, t.Inputs, ad.at.cfg.Root, ad.at.graph)
	} else {
		for _, name := range t.Inputs {
			if !strings.HasPrefix(name, "!") && !strings.Contains(name, "://") && len(matchFiles(files, name)) == 0 {
				lacks = append(lacks, name+" is not in the repository")
			}
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return refuse("inputs", "task %s: inputs: %s; commit what is missing, or name other files with odd task edit %[1]s --input PATH", t.ID, strings.Join(lacks, ", "))
}

// checkInstalled refuses a task where no agent of its chain has its program on this machine,
// or where a check of its change has not.
func (ad admission) checkInstalled(t board.Task) error {
	var lacks []string
	lack := func(what, program string, why error) {
		lacks = append(lacks, fmt.Sprintf("%s needs the program %s, which %v", what, program, why))
	}
	chain := ad.at.agentChain(t)
	for _, cfg := range chain {
		if p, why := ad.missingProgram(cfg); ad.Substrate == nil && why != nil {
			lack("odd.toml: substrate \""+cfg.Session.Substrate+"\"", p, why)
		}
	}
	if len(lacks) < len(chain) {
		lacks = nil // another one takes over
	}
	if ad.at.changesFiles(t) {
		for _, argv := range commandsOf(ad.at.cfg.Pipeline, t) {
			if len(argv) == 0 || strings.Contains(argv[0], "/") {
				continue
			}
			if why := cage.Installed(argv[0], ad.repo.Root()); why != nil {
				lack("the check \""+strings.Join(argv, " ")+"\"", argv[0], why)
			}
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return refuse("no-program", "task %s: %s; install it, or correct the command", t.ID, strings.Join(lacks, "; "))
}

// missingProgram returns what cannot be run of the configured agent's command, and why: its program, or
// the file that its program runs, where the second word is a path. nil where nothing lacks, and
// for an agent within odd.
func (ad admission) missingProgram(cfg config.Config) (program string, why error) {
	argv := cfg.Agent(cfg.Session.Substrate).Argv
	switch {
	case !agent.KindOf(cfg.Session.Substrate).Program:
		return "", nil
	case len(argv) == 0 && cfg.Session.Substrate == "claude":
		argv = []string{"claude"}
	case len(argv) == 0:
		return "", nil // Equipped tells
	}
	if why := cage.Installed(argv[0], ad.repo.Root()); why != nil {
		return argv[0], why
	}
	if len(argv) > 1 && (filepath.IsAbs(argv[1]) || strings.HasPrefix(argv[1], "./") || strings.HasPrefix(argv[1], "../")) {
		words, _ := exec.Words(argv, ad.repo.Root())
		if _, err := os.Stat(words[1]); err != nil {
			return argv[1], errors.New("is not there")
		}
	}
	return "", nil
}

// checkEquipment refuses t if any agent of its chain lacks what it needs to start. A
// fallback that cannot start would fail only when it is needed.
func (ad admission) checkEquipment(t board.Task) error {
	for _, cfg := range ad.at.agentChain(t) {
		if err := agent.Equipped(cfg, ad.Environ); err != nil {
			return err
		}
	}
	return nil
}
