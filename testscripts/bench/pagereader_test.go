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

// byHand are whole proposals on trees without labels that people judged, each atom by whether a maintainer
// would keep it as it is. No run repeats them.
const byHand = `The labels flatter the reader. On trees without labels, people judged what it proposes: *useful* is an atom that a maintainer would keep as it is, *weak* a true one that is not worth it, *wrong* one that says or implies what the document does not. No rule had been made with a row's trees when it was judged; afterwards its wrong atoms led to rules, so only the newest row tells how the reader does now.

| trees, the newest first | atoms | useful | weak | wrong |
| --- | ---: | ---: | ---: | ---: |
| LBHackney-IT/API-Playbook, alphagov/govuk-frontend, alphagov/publishing-api, opensearch-project/opensearch-build, open-telemetry/community; judged strictly by two who had not seen the rules, after the mending by the row below | 118 | 72 % | 27 % | 1 % |
| MetaMask/contributor-docs, ipfs/kubo, wellcomecollection/catalogue-pipeline, kubernetes-sigs/kind; judged strictly by two who had not seen the rules, before that mending | 67 | 58 % | 39 % | 3 % |
| jaegertracing/jaeger, zooniverse/front-end-monorepo, open-feature/community, vectordotdev/vector, kubernetes-sigs/cluster-api; judged by two who had not seen the rules, after the mending by the row below | 159 | 77 % | 19 % | 3 % |
| DFE-Digital/technical-guidance, getsentry/develop, nasa/openmct, home-assistant/architecture, crossplane/crossplane, cncf/tag-security, nats-io/nats-architecture-and-design, restic/restic, ministryofjustice/analytical-platform, cloudnative-pg/cloudnative-pg, jupyter/enhancement-proposals, tokio-rs/axum; judged by two who had not seen the rules, before the last mending | 239 | 65 % | 31 % | 5 % |
| nodejs/admin, paketo-buildpacks/community, ministryofjustice/operations-engineering-user-guide, konflux-ci/architecture, prometheus/alertmanager, strimzi/governance, charmbracelet/bubbletea; judged by who had made the rules, after mending by the row below | 111 | 85 % | 14 % | 2 % |
| twpayne/chezmoi, gotify/server, thanos-io/thanos, scrapy/scrapy, 18F/development-guide, argoproj/argoproj, cds-snc/notification-adr, skyscrapers/documentation, alphagov/re-team-manual, UKHomeOffice/technical-service-requirements, openedx/openedx-proposals, and alphagov/paas-team-manual, which had been looked at; after mending by the row below | 207 | 72 % | 16 % | 11 % |
| dexidp/dex, marshmallow-code/marshmallow, pypa/pipx, keepassxreboot/keepassxc, logseq/logseq, paperless-ngx, jesseduffield/lazygit, pydata/xarray, authelia/authelia, conda/governance, alphagov/forms, hmcts/ops-runbooks, and three that had been looked at | 345 | 80 % | 17 % | 3 % |
| PagerDuty/incident-response-docs, bcgov/platform-developer-docs, bitwarden/contributing-docs, eclipse-edc/Connector, godotengine/godot-contributing-docs, hotosm/docs, rust-lang/leadership-council, stackhpc/stackhpc-kayobe-config | 172 | 79 % | 15 % | 6 % |
| go-task/task, encode/httpx, spiffe/spire, pallets/flask: products, with their manuals | 51 | 45 % | 45 % | 10 % |
| DEFRA/software-development-standards, DiamondLightSource/python-copier-template, ONSdigital/dp, OWASP/www-policy, adoptium/infrastructure, astropy/astropy-project, buildpacks/community, cfpb/development, exercism/docs, freeCodeCamp/contribute, kedacore/governance, laminas/technical-steering-committee, linkerd/linkerd2, mattrussi/gitlab-com-runbooks, napari/docs, nationalarchives/tdr-dev-documentation, nodejs/build, ocaml/infrastructure, openmainframeproject/tac, operate-first/blueprint, rust-lang/simpleinfra, spinnaker/governance, wellcomecollection/docs, wp-cli/handbook | 403 | 73 % | 22 % | 5 % |
| karmada-io/community, ministryofjustice/data-and-analytics-engineering, uktrade/data-hub-api, 18F/technology-budgeting, ueberauth/guardian, vitessio/vitess-operator | 100 | 70 % | 23 % | 7 % |
| prestodb/tsc, giantswarm/handbook, nhsuk/nhsuk-frontend, sharkdp/bat, geopython/pygeoapi, cisagov/development-guide | 203 | 51 % | 28 % | 21 % |
| openssl/general-policies, alphagov/govuk-design-system-architecture, meltano/handbook, freedomofpress/securedrop-docs, pyOpenSci/governance, dapr/community | 174 | 79 % | 16 % | 6 % |
| cloudfoundry/community, mattermost/mattermost-handbook, hmcts/ops-runbooks, MetaMask/contributor-docs, falcosecurity/evolution, getsentry/self-hosted | 188 | 74 % | 18 % | 8 % |
| todogroup/governance, nebari-dev/governance, opendatahub-io/architecture-decision-records, apache/comdev-site | 61 | 61 % | 21 % | 18 % |
| sigstore/community, conda-incubator/governance, digital-land/technical-documentation | 60 | 73 % | 12 % | 15 % |
| ossf/tac, thanos-io/thanos, pulibrary/pul-it-handbook, guardian/recommendations, wmo-im/wis2box | 120 | 59 % | 16 % | 25 % |

By the rules of the seventh row, 203 atoms of the trees in the fifth had 72 % useful, 23 % weak and 5 % wrong. The labels of the seventh row led to rules and to weights; with weights chosen on the other 23 trees each time, 85 % of what the reader then proposed on a tree was useful, 14 % weak and 1 % wrong, over the atoms that have a label. The reader was also tried, less strictly or without a count, on cncf/toc, python/devguide, pallets/click, rust-lang/compiler-team, open-telemetry/community, UKHomeOffice/engineering-guidance-and-standards, knative/community, alphagov/paas-team-manual, jupyterhub/team-compass, istio/community, hyperledger/governance, rook/rook, 18F/handbook, cloud-gov/cg-site, pypa/pip, kyverno/community, scientific-python/specs, alphagov/gds-way, cilium/community, trussworks/Engineering-Playbook, letsencrypt/boulder, wagov-dtt/architecture-decision-records, NHSDigital/software-engineering-quality-framework, openstack/governance, thegoodparty/runbooks, hackclub/hcb, helm/community, CivicActions/handbook, ministryofjustice/opg-technical-guidance, finos/community, goharbor/community, Homebrew/brew, tektoncd/community, spiffe/spiffe, cds-snc/notification-documentation, thoughtbot/guides, borgmatic-collective/borgmatic and containerd/project: they are not unseen either. A few weights, and the rule for charters, were chosen by the totals of the unseen half too.`

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
		"- *altered*: quoted lines whose letters and digits do not occur, in that order and in whatever case, in the lines cited.\n"+
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
