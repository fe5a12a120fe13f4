package extract

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// Each case is one document and what it gives: "type title | description | lines".
func TestReaders(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path, text string
		want             []string
	}{
		{"definition list", "a.md", "# Boats\n\nSkeg\n: A small fin under the stern.\n",
			[]string{"term Skeg | A small fin under the stern. | lines 3-4"}},
		{"two terms of one text", "a.md", "Skeg\nFin\n: A small blade under the stern.\n",
			[]string{"term Fin | A small blade under the stern. | lines 2-3", "term Skeg | A small blade under the stern. | lines 1-3"}},
		{"options are no terms", "a.md", "-v\n: Prints more than it did.\n\n`--long`\n: Prints more than it did.\n", nil},
		{"bold list that defines", "a.md", "# Glossary\n\n- **Gelcoat**: the outer skin of a hull.\n- **Star crack** — a ring in the gelcoat.\n",
			[]string{"term Gelcoat | The outer skin of a hull. | line 3", "term Star crack | A ring in the gelcoat. | line 4"}},
		{"bold list elsewhere", "a.md", "# Bench\n\n- **Gelcoat**: the outer skin of a hull.\n", nil},
		{"bold list that praises", "a.md", "# Features\n\n- **Speed**: the fastest of them all.\n", nil},
		{"bold list of labels", "a.md", "# X\n\n- **Note**: the thing is here now.\n- **Step 1**: the thing is here now.\n", nil},
		{"bold list of news", "a.md", "# X\n\n- **Buffer**: the performance has been improved a lot.\n", nil},
		{"bold list of orders", "a.md", "# Glossary\n\n- **Cleaning**: wash the whole boat every evening.\n", nil},
		{"table of terms", "a.md", "# X\n\n| Term | Since | Meaning |\n|---|---|---|\n| SLO | 2020 | What we promise to users. |\n",
			[]string{"term SLO | What we promise to users. | line 5"}},
		{"table of systems", "a.md", "# X\n\n| Application | Repository | Notes |\n|---|---|---|\n| Logstack | example.com/logs | Sends all logs to one place |\n",
			[]string{"system Logstack | Sends all logs to one place | line 5"}},
		{"table of parameters", "a.md", "# X\n\n| Name | Description |\n|---|---|\n| depth | How deep the thing goes. |\n", nil},
		{"a list that explains what is no term", "a.md", "# Boats\n\nThe time can be had by any of the following:\n\nBell\n: A bell that rings every hour on the jetty.\n", nil},
		{"a list behind a promise of terms", "a.md", "# Boats\n\nThese terms are used:\n\nSkeg\n: A small fin under the stern.\n", []string{"term Skeg | A small fin under the stern. | lines 5-6"}},
		{"a file of somebody's computer", "a.md", "# Files\n\n| File | Description |\n|---|---|\n| `~/.config/ours.txt` | The boat that was chosen last |\n", nil},
		{"alias", "a.md", "Service level objective (SLO)\n: What we promise to users.\n",
			[]string{"term Service level objective | What we promise to users. | lines 1-2"}},
		{"what is", "a.md", "# What is a float plan?\n\nA card that says who is out.\n",
			[]string{"term Float plan | A card that says who is out. | lines 1-3"}},
		{"glossary heading", "a.md", "# Glossary\n\n## Float plan\n\nA card that says who is out. It hangs on a board.\n",
			[]string{"term Float plan | A card that says who is out. | lines 3-5"}},
		{"statement about the heading", "a.md", "# Boats\n\n## Float plans\n\nA float plan is a card that says who is out.\n",
			[]string{"term Float plan | A float plan is a card that says who is out. | line 5"}},
		{"statement about something else", "a.md", "# Boats\n\n## Cards\n\nA float plan is a card that says who is out.\n", nil},
		{"statement with emphasis", "a.md", "# Boats\n\nEvery day. A quiet one.\n\nA *float plan* is a card that says who is out.\n",
			[]string{"term Float plan | A float plan is a card that says who is out. | line 5"}},
		{"statement about a system", "a.md", "# Bookings\n\nBookings is a small service that takes deposits.\n",
			[]string{"system Bookings | Bookings is a small service that takes deposits. | line 3"}},
		{"statement in an introduction", "a.md", "# Bookings\n\n## Overview\n\nBookings is a small service that takes deposits.\n",
			[]string{"system Bookings | Bookings is a small service that takes deposits. | line 5"}},
		{"steps", "a.md", "# Opening the jetty\n\nEvery open day.\n\n1. Read the forecast.\n2. Put out the flag.\n",
			[]string{"process Opening the jetty | 2 steps: Read the forecast … Put out the flag | lines 3-6"}},
		{"steps with an opening", "a.md", "# Handbook\n\n## How to open the jetty?\n\nThis is done once on every open day.\n\n1. Read the forecast.\n2. Put out the flag.\n\n```sh\nflag up\n```\n",
			[]string{"process Open the jetty | 2 steps: Read the forecast … Put out the flag | lines 5-12"}},
		{"commands", "a.md", "# Publish the site\n\nFrom the root:\n\n```sh\nsite build\nsite push\n```\n",
			[]string{"process Publish the site |  | lines 3-8"}},
		{"one command under what it is for", "a.md", "# Publish the site\n\nFrom the root:\n\n```sh\nsite push\n```\n",
			[]string{"process Publish the site |  | lines 3-7"}},
		{"one command under a name", "a.md", "# Site\n\nFrom the root:\n\n```sh\nsite push\n```\n", nil},
		{"commands in no named language", "a.md", "# Publish the site\n\n```\n(venv) ann@jetty site % npm run build\nbuilt\n(venv) ann@jetty site % npm run push\n```\n\nThen:\n\n```\ngit tag v1 \\\n  -m One\n# online\ngit push\n```\n\n## Settings\n\n```\nport: 1\n```\n",
			[]string{"process Publish the site |  | lines 3-16"}},
		{"a command over two lines", "a.md", "# Publish the site\n\n```console\n$ site push \\\n> --all\npushed\n$ site show\n```\n",
			[]string{"process Publish the site |  | lines 3-8"}},
		{"table of contents", "a.md", "# Reading the docs\n\n1. [Roles](roles.md)\n2. [Words](words.md)\n3. [Tools](tools.md)\n", nil},
		{"numbered facts", "a.md", "# Seasons\n\n1. Spring is wet.\n2. Summer is dry.\n3. Autumn is short.\n", nil},
		{"noun heading", "a.md", "# File permissions\n\n```sh\nls -l\n```\n", nil},
		{"generic heading", "docs/kayak/README.md", "## Installation\n\n1. Download the file.\n2. Install it.\n",
			[]string{"process Installation (kayak) | 2 steps: Download the file … Install it | lines 3-4"}},
		{"headings that are steps", "a.md", "# Retire a boat\n\nOnce a year.\n\n## 1. Empty it\n\nTake out the gear.\n\n## 2. Tell the desk\n\nUnless it is winter, call them.\n\n## 3. Sell it\n\nAsk the shore lead first.\n",
			[]string{"process Retire a boat | Once a year. | lines 3-15"}},
		{"headings that are steps of two procedures", "a.md", "# Retire a boat\n\n## 1. Empty it\n\nTake out the gear.\n\n## 2. Wash it\n\nCall the desk.\n\n## 3. Sell it\n\nAsk the lead.\n\n## 1. Find the oars\n\nAsk the guide.\n", nil},
		{"headings of an affair of the team", "a.md", "# Release of a boat\n\nThe lead must agree.\n\n## Before\n\nWash the boat.\n\n## On the day\n\n- Move it to the jetty.\n- Ask the guide.\n",
			[]string{"process Release of a boat | The lead must agree. | lines 3-12"}},
		{"headings of an affair that the file names", "docs/boat-offboarding.md", "# Skiffs\n\n## Before\n\nWash the boat.\n\n## On the day\n\nMove it to the jetty. Ask the guide.\n",
			[]string{"process Skiffs (boat offboarding) | 2 parts: Before … On the day | lines 3-9"}},
		{"headings of an affair in a book of rules", "CONTRIBUTING.md", "# Release of a boat\n\n## Before\n\nWash the boat.\n\n## On the day\n\n- Move it to the jetty.\n- Ask the guide.\n", nil},
		{"headings of no affair", "a.md", "# Life of a boat\n\nThe lead agrees.\n\n## Before\n\nWash the boat.\n\n## On the day\n\n- Move it to the jetty.\n- Ask the guide.\n", nil},
		{"headings of an affair that explain", "a.md", "# Release of a boat\n\n## Before\n\nBoats float. They are of wood. Nobody paints them. The shed is dry. It is old. The door is red. The roof is of tin. The key is small.\n\n## On the day\n\nIt rains. The lead knows. Tea is warm. Ask the guide.\n\n## Behind it\n\nBoats are dear. Wash the boat.\n", nil},
		{"headings of an affair of which few instruct", "a.md", "# Release of a boat\n\n## Before\n\nBoats float.\n\n## On the day\n\nIt rains.\n\n## Behind it\n\nWash the boat. Ask the guide. Open the shed. Close the shed.\n", nil},
		{"headings of an affair that name what nobody is told to do", "a.md", "# Release of a boat\n\n## Releasing for the lake\n\nThe lake has a team. See the book.\n\n## Releasing for the sea\n\nA club does this.\n\n## Releasing for the river\n\nNo boat goes there.\n", nil},
		{"what a release has", "a.md", "# Release 2.0\n\n## New\n\nWash the boat.\n\n## On the day\n\nMove it to the jetty. Ask the guide.\n", nil},
		{"an affair of more lines than an atom quotes", "a.md", "# Release of a boat\n\n## Phase 1 - Wash the whole hull\n\n### Soap\n\nOpen the tin.\n\n### Water\n\nPut it in.\n\n## Phase 2 - Take it to the jetty\n\n### Cart\n\n" + strings.Repeat("Push the cart.\n\n", 72) + "### Rope\n\nCheck the rope.\n\n## Facts\n\n### Skiffs\n\nWash them.\n\n### Sloops\n\nWash them.\n",
			[]string{"process Take it to the jetty (Release of a boat) | 2 parts: Cart … Rope | lines 15-163", "process Wash the whole hull (Release of a boat) | 2 parts: Soap … Water | lines 5-11"}},
		{"headings that many documents have", "a.md", "# Boat tables\n\n## Update the data\n\n1. Open the book.\n2. Write the boat in.\n3. Close the book.\n\n## Step by step process\n\n1. Open the shed.\n2. Wash the boat.\n3. Close the shed.\n",
			[]string{"process Update the data (Boat tables) | 3 steps: Open the book … Close the book | lines 5-7", "process Step by step process (Boat tables) | 3 steps: Open the shed … Close the shed | lines 11-13"}},
		{"a diagram of an affair of the team", "a.md", "# Release process\n\nThis diagram tells how a boat is released.\n\n```mermaid\ngraph TD\nA --> B\n```\n",
			[]string{"process Release process |  | lines 3-8"}},
		{"what stands below the top heading of a table of contents", "a.md", "# Boats\n\n# Table of contents\n\n- Oars\n\n## Wash the oars\n\n1. Open the tin.\n2. Wash them.\n\n## License\n\n### Paint the oars\n\n1. Open the tin.\n2. Paint them.\n",
			[]string{"process Wash the oars | 2 steps: Open the tin … Wash them | lines 9-10"}},
		{"stages that are numbered from nought", "a.md", "# Release flow\n\n## Stage 0 - Tests\n\nAll tests must be done by members.\n\nTea is warm.\n\n## Stage 1 - Jetty\n\nAsk the guide. Call the desk.\n\n## Stage 2 - Sea\n\nThe boat is out.\n",
			[]string{"process Release flow | 3 steps: Tests … Sea | lines 3-15"}},
		{"a diagram of a boat", "a.md", "# Boat process map\n\nThis diagram tells how a boat is released.\n\n```mermaid\ngraph TD\nA --> B\n```\n", nil},
		{"steps that the text announces", "a.md", "# Club\n\n## When a boat is lost\n\nIf you miss a boat, follow these steps:\n\n1. The guide is told of it.\n2. That person should stop.\n3. If nobody answers, the desk is told.\n",
			[]string{"process When a boat is lost | 3 steps: The guide is told of it … If nobody answers, the desk is told | lines 5-9"}},
		{"steps that are announced as such", "a.md", "# Club\n\n## When a boat is lost\n\nThese are the steps that guides take, as needed:\n\n1. The desk is told of it.\n2. The person should stop.\n3. If nobody answers, the lead is told.\n",
			[]string{"process When a boat is lost | 3 steps: The desk is told of it … If nobody answers, the lead is told | lines 5-9"}},
		{"a definition list of rules", "CONTRIBUTING.rst", "Contributing\n============\n\nBranches\n--------\n\nWe have these branches:\n\n``dev``\n    Members must branch off here.\n\n``old``\n    Members must send a fix to it.\n",
			[]string{"policy Branches (Contributing) |  | lines 7-13"}},
		{"headings that order, for agents", "AGENTS.md", "# Boats\n\n## Only edit the English cards\n\nThe others come from the office. They are made at night.\n\n## Rows\n\nPrefer oars to poles.\n",
			[]string{"policy Rows (Boats) | Prefer oars to poles. | line 9", "policy Only edit the English cards |  | lines 3-5"}},
		{"what a heading that orders says of itself", "CLAUDE.md", "# Boats\n\n## Always lock the English cards\n\nLock the cards when it rains. They are made at night.\n",
			[]string{"policy Always lock the English cards | Lock the cards when it rains. | lines 3-5"}},
		{"a heading that orders, elsewhere", "boats.md", "# Boats\n\n## Only edit the English cards\n\nThe others come from the office. They are made at night.\n", nil},
		{"what may be done only then", "CONTRIBUTING.md", "# Club\n\nBoats float.\n\n## Sails\n\nA sail can be cut only after two of the club agree.\n",
			[]string{"policy Sails (Club) | A sail can be cut only after two of the club agree. | line 7"}},
		{"a name that begins a sentence", "a.md", "# Glossary\n\n- **See the skeg**: a small fin under the stern.\n- **For a skeg**: a small fin under the stern.\n", nil},
		{"terms of others, and settings", "docs/comparisons.md", "# Boats\n\nA *skeg* is a small fin under the stern.\n", nil},
		{"the short of a text", "CODE_OF_CONDUCT.md", "# Conduct\n\n## The Short Version\n\nMembers must not shout at others.\n\n## Long version\n\nMembers must not shout at others in the club.\n",
			[]string{"policy Long version | Members must not shout at others in the club. | line 9"}},
		{"a heading that runs on", "CONTRIBUTING.md", "# Club\n\n## Questions and bugs…\n\n…must all be sent to the desk by members.\n", nil},
		{"what a product allows", "policies/password-policy.md", "# Password policy\n\nBoat allows owners to set a policy for passwords.\n", nil},
		{"who is who", "GOVERNANCE.md", "# Club\n\n## Guides\n\nThe current group of guides consists of:\n\n| Name | Boat |\n|---|---|\n| Ann | Red |\n", nil},
		{"headings that tell no more than a verb", "a.md", "# Retire a boat\n\nOnce a year.\n\n## 1. Empty\n\nThe gear is in it.\n\n## 2. Wash\n\nWinter is long.\n\n## 3. Sell\n\nBoats are dear.\n", nil},
		{"a list of what must not be", "SECURITY.md", "# Security\n\n## Reports\n\nReporters must not:\n\n- Say that others must pay for it.\n- Sell it.\n",
			[]string{"policy Reports (Security) |  | lines 5-8"}},
		{"rules in prose, with their conditions", "CONTRIBUTING.md", "# Contributing\n\n## Reviews\n\nUnless it is a typo, every change must be approved by two reviewers. Small ones too.\n\nWe like tea.\n",
			[]string{"policy Reviews (Contributing) | Unless it is a typo, every change must be approved by two reviewers. | lines 5-7"}},
		{"what a program must do is no rule", "docs/api.md", "# Client\n\n## Options\n\nThe `port` value must be a number. The server should return it.\n", nil},
		{"rules of a list under a lead", "SECURITY.md", "# Security\n\n## Reports\n\nReporters must not:\n\n- Publish it.\n- Sell it.\n",
			[]string{"policy Reports (Security) |  | lines 5-8"}},
		{"a pronoun is no term", "a.md", "# Words\n\nThey\n: A small fin under the stern.\n", nil},
		{"decision with a full stop behind its status", "docs/adr/0008-paper.md", "# 8. Paper cards\n\n## Status\n\nApproved.\n\n## Context\n\nWe tried a tablet for one season.\n\n## Decision\n\nWe will keep float plans on paper.\n",
			[]string{"decision Paper cards | We will keep float plans on paper. | line 13"}},
		{"decision of an ADR", "docs/adr/0007-paper.md", "# 7. Float plans stay on paper\n\n## Status\n\nAccepted\n\n## Context\n\nWe tried a tablet for one season.\n\n## Decision\n\nWe will keep float plans on paper.\n\n## Consequences\n\nWe buy cards.\n",
			[]string{"decision Float plans stay on paper | We will keep float plans on paper. | line 13"}},
		{"decision that was given up", "docs/adr/0007-paper.md", "# 7. Paper\n\n## Status\n\nSuperseded by 9\n\n## Decision\n\nWe will keep float plans on paper.\n", nil},
		{"decision that is not made yet", "docs/adr/0007-paper.md", "# 7. Paper cards\n\n## Status\n\nProposed\n\n## Decision\n\nWe will keep float plans on paper.\n",
			[]string{"decision Paper cards (proposed) | We will keep float plans on paper. | line 9"}},
		{"decision in parts", "docs/adr/0009-cards.md", "# 9. Cards\n\n## Decision\n\n### Paper\n\nWe will keep float plans on paper.\n\n### Ink\n\nWe will write them in ink.\n\n### Positive consequences\n\nThey last.\n",
			[]string{"decision Cards | We will keep float plans on paper. | lines 5-11"}},
		{"decision that was turned down", "docs/adr/0010-tablets.md", "# 10. Tablets\n\n## Status\n\nRejected\n\n## Decision\n\nWe will buy tablets.\n", nil},
		{"how an interface is called", "docs/boats.md", "# Boats\n\n## Ensuring a boat\n\nThis only works if there is a boat. It is made by:\n\n```python\nadd(boat)\n```\n\nAs such it runs:\n\n```console\n$ boats\n```\n", nil},
		{"how an interface is called, in no named language", "docs/boats.rst", "Boats\n=====\n\nEnsuring a boat\n---------------\n\nThis only works if there is a boat. It is made by::\n\n    from boats import add\n\nAs such it runs:\n\n.. code-block:: console\n\n    $ boats\n", nil},
		{"commands under the name of a thing", "README.md", "# boats-core\n\nThis package has what all boats share.\n\nInstall the main package instead:\n\n```sh\nnpm install boats\n```\n\n## Documentation\n\nIt is elsewhere.\n\n## More\n\nText.\n", nil},
		{"a heading that is a rule", "standards/secrets.md", "# Secrets\n\nThey are dangerous.\n\n## Requirements\n\n- [Secrets must be rotated every month](#secrets-must-be-rotated-every-month)\n\n### Secrets must be rotated every month\n\nOld ones are known to more people.\n",
			[]string{"policy Secrets must be rotated every month |  | lines 9-11"}},
		{"what the problem was is no rule", "CONTRIBUTING.md", "# X\n\n## Context\n\nContributors must sign every page, which nobody likes.\n", nil},
		{"what is no longer done", "a.md", "# Desk\n\n## Book a boat (deprecated)\n\n1. Open the book.\n2. Write the name.\n", nil},
		{"reports", "team-reports/june.md", "# June\n\n## Reviews\n\nEvery change must be approved by two reviewers.\n", nil},
		{"how to take part", "CONTRIBUTING.md", "# X\n\n## Get involved\n\nEvery change must be approved by two reviewers.\n", nil},
		{"a program in a decision is no role", "docs/adr/0012-crew.md", "# 12. Crew\n\n## Context\n\nBoats float.\n\n## Decision\n\nWe will use one operator.\n\n## Consequences\n\nBoat operator responsibilities:\n\n- Deploys the boats.\n- Counts them.\n",
			[]string{"decision Crew | We will use one operator. | line 9"}},
		{"what a record holds is no decision", "docs/adr/0001-records.md", "# 1. Records\n\n## Forces\n\nEach record has a set of forces and a single decision that answers them.\n", nil},
		{"the majority of things is no vote", "CONTRIBUTING.md", "# X\n\n## Slack\n\nThe majority of our conversations happen in one place, where members are.\n", nil},
		{"practices in order", "docs/testing-guidance.md", "# Testing\n\n## Setting up fixtures\n\n1. Keep it in one place\n   - Only include what is shared.\n2. Name it by what it is for\n   - Use words as `temp_file`.\n3. Set its scope\n   - Choose the right one.\n", nil},
		{"one sentence is no procedure", "a.md", "# Parcels\n\n## Make a parcel\n\nIt is small.\n\n### Authoring\n\nWrite your library in TypeScript.\n\n## Settings\n\n```yaml\na: 1\n```\n", nil},
		{"one sentence of a runbook", "runbooks/a.md", "# Disk full\n\n## Mitigation\n\nDelete the old logs on the server `a`,\nwhich nobody needs, as they are stored\non another one.\n",
			[]string{"process Mitigation (Disk full) | Delete the old logs on the server a, which nobody needs, as they are stored on another one. | lines 5-7"}},
		{"as plain as a procedure must be", "a.md", "# Desk\n\nThe desk is open.\n\n## Publish the site\n\nOpen the desk.\n\nTo book one, call the desk.\n",
			[]string{"process Publish the site | To book one, call the desk. | lines 7-9"}},
		{"not as plain as a procedure must be", "a.md", "# Desk\n\nThe desk is open.\n\n## Publish the site\n\nOpen the desk.\n\nIf it rains, close the door.\n", nil},
		{"a list of what is done in a month", "handbook/may.md", "# Desk\n\n## May\n\n- Write the text of the offer.\n- Ask the leads who wants to guide a student.\n- Send it to the desk.\n", nil},
		{"lines that set variables run nothing", "a.md", "# X\n\n## Storage\n\nTo use another storage, set these:\n\n```bash\nA_B=1\nC_D=2 # two\nE_F=3\nG_H=4\n```\n", nil},
		{"a job", "jobs/policy.md", "# Guide\n\n## Reviews\n\nEvery change must be approved by two reviewers.\n", nil},
		{"minutes", "minutes/june.md", "# June\n\n## Reviews\n\nEvery change must be approved by two reviewers.\n", nil},
		{"a rule of a year", "policies/travel-policy-2026.md", "# Travel policy 2026\n\nEmployees must book flights at least 14 days ahead. Trips must be approved by a manager.\n",
			[]string{"policy Travel policy 2026 | Employees must book flights at least 14 days ahead. | line 3"}},
		{"questions are no terms", "a.md", "# Reviews\n\nIs it tested?\n: Tests show that it works and go on to.\n\nIs the code documented\n: Documents help those who come later.\n", nil},
		{"what people do in turn", "GOVERNANCE.md", "# X\n\n## Donation process\n\nThese are the steps for a gift:\n\n1. The owner opens an issue.\n2. The council reads the issue within a month.\n3. A maintainer adds the code.\n",
			[]string{"process Donation process (X) | 3 steps: The owner opens an issue … A maintainer adds the code | lines 5-9"}},
		{"a procedure with a rule in it is one atom", "GOVERNANCE.md", "# X\n\n## Adding maintainers\n\nThe maintainers propose a candidate on the list. Members are given seven days to object.\n\nCandidates must be approved by two thirds of the committers.\n\nA maintainer will then open a pull request, and the candidate will add a name.\n",
			[]string{"process Adding maintainers | The maintainers propose a candidate on the list. | lines 5-9"}},
		{"how a body is made up", "charter.md", "# Council\n\n## Committee structure\n\nThe committee consists of nine members, elected for two years.\n",
			[]string{"policy Committee structure | The committee consists of nine members, elected for two years. | line 5"}},
		{"reasons are no rules", "CONTRIBUTING.md", "# X\n\n## Why we review\n\nEvery change must be approved by two reviewers.\n", nil},
		{"what people do not think is no rule", "CONTRIBUTING.md", "# X\n\n## Agreement\n\nWe do not all hold the same views of boats, and we do not know why.\n", nil},
		{"what a text tells of is no rule", "CONTRIBUTING.md", "# X\n\n## Calls\n\nThe other page tells in detail what you should say.\n", nil},
		{"a change log", "history.md", "# News\n\n## 1.0.2 (2026-01-02)\n\n- Contributors must sign every page.\n\n## 1.0.1 / 2025-02-03\n\n- X.\n\n## v1.0.0\n\n- Y.\n", nil},
		{"a label without a mark leads", "CONTRIBUTING.md", "# X\n\n## Commits\n\n**Don't**\n\n- Commit secrets to the repository.\n- Push straight to the main branch.\n",
			[]string{"policy Commits (X) |  | lines 5-8"}},
		{"rules that hold no longer", "CONTRIBUTING.md", "# X\n\n## Reviews\n\nThese rules no longer apply:\n\n- Contributors must sign the form on paper.\n", nil},
		{"an exception behind a rule", "CONTRIBUTING.md", "# X\n\n## Reviews\n\n" + strings.Repeat("Tea is warm.\n\n", 12) + "All contributors must sign the form.\n\nThis does not hold for typos.\n",
			[]string{"policy Reviews (X) | All contributors must sign the form. This does not hold for typos. | lines 29-31"}},
		{"a warning behind the steps", "a.md", "# Drop the database\n\n1. Stop the server.\n2. Drop it.\n\nNever do it on production.\n",
			[]string{"process Drop the database | 2 steps: Stop the server … Drop it | lines 3-6"}},
		{"struck out", "CONTRIBUTING.md", "# X\n\n## Reviews\n\n~~Contributors must sign the form.~~\n", nil},
		{"one title in two places of a document", "handbook.md", "# Handbook\n\n## Staff\n\n### Leave\n\nYou must ask for leave.\n\n## Guests\n\n### Leave\n\nYou must not ask for leave.\n",
			[]string{"policy Leave (Guests) | You must not ask for leave. | line 13", "policy Leave (Staff) | You must ask for leave. | line 7"}},
		{"not, as a heading", "CONTRIBUTING.md", "# X\n\n## Not OK\n\n1. Go on a tour. You must not miss work for it.\n2. Consult for other companies. You must not do that.\n3. Take on work that keeps you from yours.\n", nil},
		{"steps that a sentence says what for", "a.md", "# Desk\n\n## Reading a card\n\nCards are on the board. To read one you take it off, as people like to look at it.\n\nRead what stands on the back first.\n\nTurn it.\n",
			[]string{"process Reading a card | Cards are on the board. | lines 5-9"}},
		{"alternatives are no rules", "CONTRIBUTING.md", "# X\n\n## Alternatives\n\nContributors must sign every page.\n", nil},
		{"a number that is no section's", "a.md", "# Use 64-bit ids\n\n## 64-bit ids for orders setup\n\n1. Stop the server.\n2. Change the column.\n3. Start it.\n",
			[]string{"process 64-bit ids for orders setup | 3 steps: Stop the server … Start it | lines 5-7"}},
		{"list of problems", "a.md", "# Fix the radio\n\n1. The battery is flat.\n2. The antenna is loose.\n3. The channel is wrong.\n", nil},
		{"what a runbook does", "runbooks/radio.md", "# RadioDown\n\n## Meaning\n\nThe radio is silent.\n\n## Mitigation\n\nCheck the battery.\n\nChange the channel.\n",
			[]string{"process Mitigation (RadioDown) |  | lines 9-11"}},
		{"duties below a role are no roles", "a.md", "# Responsibilities\n\n## Strategic advice\n\nHelps the others to find gaps in what they do.\n", nil},
		{"table of roles", "a.md", "# Roles\n\n| Role | Responsible for |\n|---|---|\n| Desk | Takes bookings |\n| Guide | Takes groups out on the water |\n",
			[]string{"role Guide | Takes groups out on the water | line 6"}},
		{"headings of roles", "a.md", "# Responsibilities\n\n## Desk\n\nTakes bookings and deposits. Reports to the shore lead.\n\n## Ann Lee\n\nTakes bookings and deposits.\n",
			[]string{"role Desk | Takes bookings and deposits. | lines 3-5"}},
		{"responsible", "a.md", "# Days\n\nThe shore lead is responsible for opening the jetty.\n\nnpm is responsible for what it does.\n",
			[]string{"role Shore lead | The shore lead is responsible for opening the jetty. | line 3"}},
		{"holders", "a.md", "# Triagers\n\nTriagers assess newly opened issues.\n",
			[]string{"role Triagers | Triagers assess newly opened issues. | lines 1-3"}},
		{"a role up to how one comes to it", "GOVERNANCE.md", "# X\n\n## Stewards\n\nStewards keep the jetty clean.\n\n- They lock the gate.\n\nA new steward is elected by the council.\n",
			[]string{"role Stewards | Stewards keep the jetty clean. | lines 5-7", "policy Stewards (X) | A new steward is elected by the council. | line 9"}},
		{"how one comes to an office is no role", "GOVERNANCE.md", "# X\n\n## Committers\n\nCommitters are elected by the council for two years.\n",
			[]string{"policy Committers (X) | Committers are elected by the council for two years. | line 5"}},
		{"how many hold an office", "GOVERNANCE.md", "# X\n\n## Maintainers\n\nWe now have maintainers from 4 different companies.\n\n## Removal of members\n\nMembers leave when they want to.\n", nil},
		{"who is responsible in passing", "a.md", "# Days\n\nThe jetty opens at nine.\n\nThe shore lead is responsible for opening the jetty.\n", nil},
		{"where the holders stand", "GOVERNANCE.md", "# X\n\n## Triagers\n\nTriagers are listed in the file OWNERS.\n\n## Contributors\n\nHave a look on the contributors page.\n\n## Committers\n\n- Ann Lee (@ann)\n- Bo Ray (@bo)\n", nil},
		{"what each of a group does", "slack.md", "# Slack\n\n## Product teams\n\nEach product team keeps a channel of its own.\n", nil},
		{"people are no roles", "a.md", "# Team\n\n## Owners\n\n- **Ann Lee**: the person who keeps it all.\n- [@ann](https://x.example): the person who keeps it.\n", nil},
		{"two headings that are steps", "a.md", "# Boats\n\n## 1. Empty the boat\n\n1. Take out the gear.\n2. Lock the gate.\n\n## 2. Sell the boat\n\n1. Call the desk.\n2. Sign the form.\n", nil},
		{"headings that are steps below another", "a.md", "# Retire a boat\n\n## Instructions\n\n### 1. Empty it\n\nTake out the gear.\n\n### 2. Tell the desk\n\nCall them.\n\n### 3. Sell it\n\nAsk the shore lead first.\n",
			[]string{"process Retire a boat | 3 steps: Empty it … Sell it | lines 5-15"}},
		{"what stands below an example", "policies/x.md", "# Boats\n\n## Example plan\n\n### Gates\n\nMembers must lock every gate.\n", nil},
		{"what a charter is about", "CHARTER.md", "# X\n\n## Scope\n\n- The council must be asked for every boat.\n- The council may be asked for sails.\n", nil},
		{"steps with what one has to heed", "SECURITY.md", "# X\n\n## Reports\n\n1. The lead writes the fix.\n2. Maintainers must approve it.\n3. The lead closes the gate.\n4. The lead tells the desk.\n", nil},
		{"what nobody has to do", "policies/x.md", "# Lists\n\n## Boats\n\nWe don't need to paint any boat in winter.\n", nil},
		{"what one can use", "policies/x.md", "# Lists\n\n## Boats\n\nYou can use a list of all boats here.\n", nil},
		{"what happens at times", "policies/x.md", "# Lists\n\n## Boats\n\nSometimes members must wait for their boats.\n", nil},
		{"what a club hopes for", "policies/x.md", "# Lists\n\n## Boats\n\nWe encourage members to look after their boats. Members should wash their boats.\n", []string{"policy Boats (Lists) | Members should wash their boats. | line 5"}},
		{"where a text sends one", "policies/x.md", "# Lists\n\n## Boats\n\nPlease review the list of all boats.\n", nil},
		{"steps that are said elsewhere", "a.md", "# Boats\n\n## Joining the club\n\n1. Find the desk.\n2. Call it.\n3. Read and follow the steps below to sign the form.\n", nil},
		{"what is considered to be", "a.md", "# What is considered a boat?\n\nA boat is what floats on the lake by itself.\n", nil},
		{"a choice with its reasons", "docs/adr/0001-a.md", "# Paper\n\n## Context\n\nBoats float.\n\n## Decision\n\nChosen option: \"paper\", because\n\n- It is dry.\n- It is cheap.\n",
			[]string{"decision Paper | Chosen option: \"paper\" | lines 9-12"}},
		{"a choice that is said elsewhere", "docs/adr/0003-c.md", "# Paper\n\n## Context\n\nBoats float.\n\n## Decision\n\nImplement it all as designed above.\n", nil},
		{"what one thinks of a choice", "docs/adr/0004-d.md", "# Paper\n\n## Context\n\nBoats float.\n\n## Decision\n\nPaper is dry and many clubs use it. We did use it for one season.\n",
			[]string{"decision Paper |  | line 9"}},
		{"a choice by its number", "docs/adr/0005-e.md", "# Paper\n\n## Context\n\nBoats float.\n\n## Decision\n\nWe chose option 2.\n",
			nil},
		{"things in a folder for tools", "tools/zoom.md", "# Zoom\n\n- **A camera**: it shows who speaks to the others.\n", nil},
		{"words of a story", "docs/stories/game.md", "# Glossary\n\n- **Ghost**: the one who hunts the player.\n", nil},
		{"a draft", "policies/boats_draft.md", "# Boats\n\nMembers must wash their boats.\n", nil},
		{"what to do when it breaks", "docs/troubleshooting.md", "# Rows\n\n## It sinks\n\nMembers must never row a boat that is not dry.\n", nil},
		{"what is still to do", "CONTRIBUTING.md", "# Boats\n\n## To do\n\nMembers must wash their boats.\n", nil},
		{"what a charter explains", "boats.md", "# Boat governance\n\n## Boats of the club\n\nEvery boat has a name, and the club needs to know it well.\n", nil},
		{"a role of any code of conduct", "CODE_OF_CONDUCT.md", "# Conduct\n\n## Responsibilities\n\nThe board is responsible for what is said here.\n", nil},
		{"a record that says what holds now", "docs/adr/0006-f.md", "# Paper\n\nThis decision has been superseded by 0007.\n\n## Context\n\nBoats float.\n\n## Decision\n\nWe will use paper.\n", nil},
		{"what sets headings off", "a.md", "# Site\n\n## 🚀 Publish pages (2 steps)\n\n1. Build it.\n2. Push it.\n\n## B. Renew it again.\n\n1. Build it.\n2. Push it.\n\n## Optional step 3: Close all pages\n\n1. Build it.\n2. Push it.\n\n## 🚀\n\nNobody may push twice.\n\nMembers must not push on Sunday.\n",
			[]string{"process Close all pages | 2 steps: Build it … Push it | lines 15-16", "process Publish pages | 2 steps: Build it … Push it | lines 5-6", "process Renew it again | 2 steps: Build it … Push it | lines 10-11"}},
		{"who holds a role", "team.md", "# Roles\n\n- **Shore lead**: Ann Row and Tom Oar.\n", nil},
		{"a label below a role", "roles.md", "# Roles\n\n## Shore team\n\nPolicies: No formal policies.\n", nil},
		{"boxes to tick", "policies/joining.md", "# Joining\n\n## For new members\n\n- [ ] Members must get a key.\n- [ ] Members must sign the list.\n", nil},
		{"a policy that says what it is", "policies/boats.md", "# Boat policies\n\nThis document records the policies of the club.\n", nil},
		{"a checklist that says what it is", "policies/boats.md", "# Boats\n\nThis is a checklist to help the club. Members must keep it up to date.\n", nil},
		{"a heading about the page", "about.md", "# About\n\nThe server has two disks.\n\n```sh\nuname -a\ndf -h\n```\n", nil},
		{"what to read", "CONTRIBUTING.md", "# Boats\n\n## Additional readings\n\nMembers must read the book of knots.\n", nil},
		{"an invitation for a term", "a.md", "# What is a float plan?\n\nPlease write a float plan before you row out.\n", nil},
		{"a choice that points away", "docs/adr/0007-g.md", "# Paper\n\n## Context\n\nBoats float.\n\n## Decision\n\nWe will adopt this flow.\n", nil},
		{"a record in a folder of its own", "docs/adr/2022-02-03-paper/README.md", "# Paper\n\n## Context\n\nBoats float.\n\n## Decision\n\nWe will use paper, and members must fold it.\n", []string{"decision Paper | We will use paper, and members must fold it. | line 9"}},
		{"a decision that is no rule", "docs/boats.md", "# Boats\n\n## Decision\n\nMembers must wash their boats.\n", nil},
		{"a program for a rule", "policies/boats.md", "# Boats\n\n## push-boats\n\nMembers must wash their boats.\n", nil},
		{"what goes on from a heading", "roles.md", "# Roles\n\n## Members are\n\n- **..accountable to**: the council that elects the leads each year.\n", nil},
		{"a choice that is said late", "docs/adr/0002-b.md", "# Paper\n\n## Context\n\nBoats float.\n\n## Decision\n\nPaper is dry and cheap.\n\nThere are two kinds.\n\nThe red one should hang by the door.\n",
			[]string{"decision Paper |  | lines 9-13"}},
		{"a heading of minutes", "policies/old/x.md", "# X\n\n## Boats must be painted again by Ann\n\nAnn will look.\n", nil},
		{"a rule that goes on from another", "CONTRIBUTING.md", "# X\n\n## Boats\n\nFinally, members must wash their boats.\n", []string{"policy Boats (X) |  | line 5"}},
		{"a rule that points to what it does not name", "CONTRIBUTING.md", "# X\n\n## Boats\n\nMembers must wash these boats.\n", []string{"policy Boats (X) |  | line 5"}},
		{"a sentence that its commands end", "a.md", "# Publish the site\n\nTo publish the site, run\n\n```sh\nsite push\n```\n", []string{"process Publish the site |  | lines 3-7"}},
		{"steps below what they are part of", "a.md", "# Removing a plugin\n\n## Empty the list\n\nTake it off the list in the file of settings by hand, and look whether the others are still there.\n\nTo keep it off, put the file back. If it breaks, call the desk.\n",
			[]string{"process Empty the list |  | lines 5-7"}},
		{"what is done in no order", "a.md", "# Removing a plugin\n\n## Empty the list\n\nTake it off the list in the file of settings by hand, and look whether the others are still there.\n\nPut the file back. The list is read once an hour.\n", nil},
		{"how a program is used", "README.md", "# Jetty\n\nText.\n\n## Usage\n\nBoats are kept here. They are of wood. Some are blue.\n\n```sh\nsite build\nsite check\nsite push\nsite show\n```\n", nil},
		{"what a server is asked", "README.md", "# Jetty\n\nText.\n\n## Boats\n\nTo add a boat, run:\n\n```sh\ncurl -d '{}' http://jetty/add\n```\n\nTo drop a boat, run:\n\n```sh\ncurl -d '{}' http://jetty/drop\n```\n", nil},
		{"a call of an interface", "a.md", "# Jetty\n\nText.\n\n## Add a boat\n\n```\nPOST /boats\n```\n\nTo add a boat, run:\n\n```sh\nsite add boat\nsite show boat\n```\n", nil},
		{"a list of commands", "a.md", "# Jetty\n\nText.\n\n## Useful site commands\n\n```sh\nsite build\nsite check\nsite push\nsite show\n```\n", nil},
		{"what a text ends with", "a.md", "# Jetty\n\nText.\n\n## Closing remarks\n\nThe steps are simple:\n\n1. Make a start.\n2. Count the boats.\n3. Tell the team.\n", nil},
		{"what must be there first", "CONTRIBUTING.md", "# Jetty\n\n## Prerequisites\n\n- Contributors must sign the form.\n- Contributors must not share a key.\n- Contributors must never sell boats.\n", nil},
		{"what is to be read", "a.md", "# Jetty\n\nText.\n\n## Use the guidance\n\n1. [Keep it dry](dry.md) Water rots the wood.\n2. [Check the rope](rope.md) Ropes fray early.\n3. [Close the gate](gate.md) Dogs like boats.\n", nil},
		{"what happens by itself", "a.md", "# Jetty\n\nText.\n\n## Deployment of the site\n\nA merge triggers these steps:\n\n1. Build the site.\n2. Push it to the host.\n3. Check that it is up.\n", nil},
		{"what a reader wonders", "handbook/cards.md", "# Cards\n\nText.\n\n## What happens to a card?\n\nMembers must not lose it.\n", nil},
		{"guidelines of a list", "guide/notes.md", "# Notes\n\nText.\n\n## Making good notes\n\nTo help readers, follow these guidelines.\n\n- Write in the past tense.\n- Keep it short.\n- Name the boat.\n- Check the spelling.\n\n```sh\nnote check\n```\n", nil},
		{"what one is told to read", "CONTRIBUTING.md", "# Jetty\n\nContributors must follow these guidelines.\n", nil},
		{"how to see a fault is no rule", "handbook/faults.md", "# Faults\n\nText.\n\n## How to spot the fault\n\nThe lamps must not be red, and you should see boats.\n", nil},
		{"what a heading of a charter means", "GOVERNANCE.md", "# Council\n\n## Users\n\nThese are people who may want to learn about boats.\n", nil},
		{"who is no longer in an office", "GOVERNANCE.md", "# Jetty\n\n## Inactive Member\n\nMembers are continuously active contributors in the club.\n", nil},
		{"how somebody comes to an office", "docs/roles.md", "# Roles\n\n## Maintainers\n\nNew maintainers are made by an owner in spring.\n",
			[]string{"policy Maintainers (Roles) | New maintainers are made by an owner in spring. | line 5"}},
		{"where an office is described", "handbook.md", "# Jetty\n\n## Ops Team Responsibilities\n\nTo see what the ops team is responsible for, look at the board.\n", nil},
		{"what an office does in a case", "handbook.md", "# Jetty\n\n## Ops Team Responsibilities\n\nThe ops team is there in a fire.\n\n1. Call the desk.\n2. Close the gate.\n3. Count the boats.\n", nil},
		{"how a program is to be", "proposals/lamps.md", "# Lamps\n\n## Motivation\n\nIt is dark.\n\n## Set the lamp\n\n1. Call it once.\n2. Close the gate.\n\n```sh\nlamp on\nlamp off\n```\n\n## Drawbacks\n\nLight costs.\n\n## Alternatives\n\nMoon.\n", nil},
		{"a short section whole", "GOVERNANCE.md", "# X\n\n## Consensus\n\nBoats are chosen by lazy consensus.\n\nMembers must not overrule a vote.\n\nA member may object within 3 days.\n\nOars are red.\n",
			[]string{"policy Consensus (X) | Boats are chosen by lazy consensus. | lines 5-11"}},
		{"a section but for its last line", "GOVERNANCE.md", "# X\n\n## Chair\n\nTea is warm.\n\nMembers must elect a chair.\n\nOars are red.\n\nSkegs are small.\n\nIt is dark. Boats float.\n\nMembers must not vote twice.\n\nLamps are red.\n",
			[]string{"policy Chair (X) | Members must elect a chair. | lines 5-17"}},
		{"a short section with its table and what stands below", "CONTRIBUTING.md", "# X\n\n## Oars\n\nMembers must mark oars.\n\n" + strings.Repeat("Tea is warm.\n\n", 5) + "| Oar | Mark |\n|---|---|\n| Red | R |\n\n> Oars of guests have none.\n",
			[]string{"policy Oars (X) | Members must mark oars. | lines 5-21"}},
		{"a long section of which a third obliges", "CONTRIBUTING.md", "# X\n\n## Oars\n\n" + strings.Repeat("- Members must mark oars.\n", 12) + "\n" + strings.Repeat("Tea is warm.\n\n", 10),
			[]string{"policy Oars (X) |  | lines 5-36"}},
		{"a short section that is most code", "CONTRIBUTING.md", "# X\n\n## Oars\n\nMembers must never tie oars. The oars are red, and this is how a red one looks in the list that hangs by the gate.\n\nTea is warm.\n\n```yaml\n" + strings.Repeat("a: 1\n", 9) + "```\n",
			[]string{"policy Oars (X) | Members must never tie oars. | line 5"}},
		{"a role with what its holders do and may do", "CONTRIBUTOR-LADDER.md", "# Ladder\n\n## Approvers\n\nApprovers look after one boat each and say what is done to it.\n\n### Expectations\n\n- Look at the boat each day.\n\n### Rights and duties\n\n- Members must hear them.\n\n### Becoming an approver\n\nMembers must be elected by the board.\n",
			[]string{"role Approvers | Approvers look after one boat each and say what is done to it. | lines 5-13", "policy Becoming an approver | Members must be elected by the board. | line 17"}},
		{"a list of roles with their letters", "a.md", "# Work\n\n## Team roles\n\n- **Delivery Manager (DM)**: Removes what blocks the work.\n- **Technical Lead (TL)**: Works with teams to decide on boats.\n",
			[]string{"role Delivery Manager | Removes what blocks the work. | line 5", "role Technical Lead | Works with teams to decide on boats. | line 6"}},
		{"a rule that begins with thanks", "CONTRIBUTING.md", "# X\n\n## Oars\n\nThank you for the oars that you row here!\n\n- Members must mark oars.\n- Members must wash oars.\n", []string{"policy Oars (X) |  | lines 5-8"}},
		{"steps that begin with where to read", "a.md", "# Open the jetty\n\nPlease see the book of the jetty in the shed by the gate.\n\n1. Read the forecast.\n2. Put out the flag.\n", []string{"process Open the jetty | 2 steps: Read the forecast … Put out the flag | lines 3-6"}},
		{"steps that have to be taken, in a list", "MAINTAINERS.md", "# Boats\n\n## Steward onboarding\n\nUpon approval, the following steps should be taken:\n\n- **1. The list**\n  - The list has the name of the steward.\n- **2. The board**\n  - The board has it too.\n",
			[]string{"process Steward onboarding | 2 steps: The list … The board | lines 5-10"}},
		{"as plain as a rule must be where rules are", "CONTRIBUTING.md", "# Boats\n\n## Process\n\nWhen painting a boat, the painter should:\n\n- Add a card to the board, and run the list.\n- Add a note to the book if there is one.\n- Write the name on the keel when possible.\n- Take the old card off the board.\n\nThe notes should be short.\n",
			[]string{"policy Process (Boats) | The notes should be short. | lines 5-12"}},
		{"an exception describes no rule", "CONTRIBUTING.md", "# X\n\n## Oars\n\nUse red oars. **Exception:** When it rains, members must take blue oars.\n", []string{"policy Oars (X) |  | line 5"}},
		{"what sums up describes no rule", "CONTRIBUTING.md", "# X\n\n## Oars\n\nPut simply, members must take red oars.\n", []string{"policy Oars (X) |  | line 5"}},
		{"a list of what to read is no rule", "CONTRIBUTING.md", "# X\n\n## Oars\n\n- [The list of oars](a.md), which members must read in June.\n- [The list of sails](b.md), which members must read in May.\n", nil},
		{"phases of a process", "docs/wishes.md", "# Wish process\n\n## Asking the board for boats\n\nMembers must write each wish on a card.\n\n## Talks with the club chair\n\nMembers must come to the talk. Wishes of guests should be read too.\n",
			[]string{"policy Wish process |  | lines 3-9"}},
		{"steps in brackets", "a.md", "# Retire a boat\n\n## Step 1 (empty it)\n\nTake out the gear.\n\n## Step 2 (tell the desk)\n\nCall them.\n\n## Step 3 (sell it)\n\nAsk the shore lead first.\n",
			[]string{"process Retire a boat | 3 steps: empty it … sell it | lines 3-13"}},
		{"parts that the heading above tells", "CONTRIBUTING.md", "# X\n\n## Boat board structure\n\n### Eligibility\n\nMembers must own a boat.\n\n### Term\n\nMembers must leave it in June.\n\n## Development\n\n### Oars\n\nMembers must mark oars.\n\n### Sails\n\nMembers must mark sails.\n",
			[]string{"policy Oars (X) | Members must mark oars. | line 17", "policy Sails (X) | Members must mark sails. | line 21", "policy Boat board structure |  | lines 5-11"}},
		{"a document that begins with its reasons", "docs/policies/oar_marks.md", "# Motivation\n\nText.\n\n# Oars\n\nMembers must wash all boats.\n\n# Paints\n\nText.\n\n## Sails\n\nMembers must wash all sails.\n", []string{"policy Sails (Paints) | Members must wash all sails. | line 15", "policy Oars (oar_marks) | Members must wash all boats. | line 7"}},
		{"what is told below a verdict, and a title that breaks off", "CONTRIBUTING.md", "# X\n\n## Not approved\n\n- Members must tell nobody.\n- Members must wait.\n\n## Following these rules means\n\n- Members must mark oars.\n- Members must wait.\n", nil},
		{"parts where no rules are", "boats.md", "# X\n\n## Boat board structure\n\n### Eligibility\n\nMembers must own a boat.\n\n### Term\n\nMembers must leave it in June.\n",
			[]string{"policy Eligibility (Boat board structure) | Members must own a boat. | line 7", "policy Term (Boat board structure) | Members must leave it in June. | line 11"}},
		{"parts of what is not to be done", "CONTRIBUTING.md", "# X\n\n## Boat board mistakes\n\n### Eligibility\n\nMembers must own a boat.\n\n### Term\n\nMembers must leave it in June.\n",
			[]string{"policy Eligibility (Boat board mistakes) | Members must own a boat. | line 7", "policy Term (Boat board mistakes) | Members must leave it in June. | line 11"}},
		{"parts with code", "CONTRIBUTING.md", "# X\n\n## Boat board structure\n\n### Eligibility\n\nMembers must own a boat.\n\n### Term\n\nMembers must leave it in June.\n\n```yaml\na: 1\nb: 1\nc: 1\nd: 1\n```\n",
			[]string{"policy Eligibility (Boat board structure) | Members must own a boat. | line 7", "policy Term (Boat board structure) | Members must leave it in June. | lines 11-18"}},
		{"parts of many lines", "CONTRIBUTING.md", "# X\n\n## Boat board structure\n\n" + strings.Repeat("Tea is warm.\n\n", 30) + "### Eligibility\n\nMembers must own a boat.\n\n### Term\n\nMembers must leave it in June.\n",
			[]string{"policy Eligibility (Boat board structure) | Members must own a boat. | line 67", "policy Term (Boat board structure) | Members must leave it in June. | line 71"}},
		{"parts, one of which is a role", "GOVERNANCE.md", "# X\n\n## Boat board structure\n\n### Eligibility\n\nMembers must own a boat.\n\n### Term\n\nMembers must leave it in June.\n\n### Steward\n\nThe steward is responsible for all boats.\n",
			[]string{"role Steward | The steward is responsible for all boats. | line 15", "policy Eligibility (Boat board structure) | Members must own a boat. | line 7", "policy Term (Boat board structure) | Members must leave it in June. | line 11"}},
		{"what opens parts", "CONTRIBUTING.md", "# X\n\n## Checks of boats\n\nWhere they can, members should make checks of boats.\n\n### Keel lamps of red boats\n\nMembers must look at them.\n\n### Oars in the big shed\n\nMembers must look at them in June.\n",
			[]string{"policy Checks of boats | Where they can, members should make checks of boats. | lines 5-13"}},
		{"a heading above with a word of the title, or of many words", "CONTRIBUTING.md", "# X\n\n## Elections\n\nText.\n\n### Election\n\nMembers must vote once. " + strings.Repeat("Tea is warm.\n\n", 40) + "## What we all do in the long days of May\n\nText.\n\n### Oars\n\nMembers must mark oars. " + strings.Repeat("Tea is warm.\n\n", 40) + "## Introduction\n\nText.\n\n### Sails\n\nMembers must mark sails.\n",
			[]string{"policy Sails (X) | Members must mark sails. | line 181", "policy Oars (X) | Members must mark oars. | line 95", "policy Election (X) | Members must vote once. | line 9"}},
		{"a role that is told up to how one comes to it", "GOVERNANCE.md", "# X\n\n## Stewards\n\nStewards keep the jetty clean.\n\nA new steward is elected by the council.\n\n### Duties\n\n- They lock the gate.\n- They wash the boats.\n",
			[]string{"role Stewards | Stewards keep the jetty clean. | line 5", "policy Stewards (X) | A new steward is elected by the council. | lines 5-7"}},
		{"a role with more duties than an atom quotes", "GOVERNANCE.md", "# X\n\n## Stewards\n\nStewards keep the jetty clean.\n\n### Duties\n\n" + strings.Repeat("- They lock the gate.\n", 70),
			[]string{"role Stewards | Stewards keep the jetty clean. | line 5"}},
		{"parts below a heading that names no rule", "CONTRIBUTING.md", "# X\n\n## Boats = boards\n\n### Best practices\n\nMembers must own a boat.\n\n### Locks on the shed\n\nMembers must lock the big gate in June.\n",
			[]string{"policy Locks on the shed | Members must lock the big gate in June. | line 11", "policy Best practices (X) | Members must own a boat. | line 7"}},
		{"one part alone", "CONTRIBUTING.md", "# X\n\n## Oar marks\n\n### Best practices\n\nMembers must own a boat.\n", []string{"policy Best practices (Oar marks) | Members must own a boat. | line 7"}},
		{"parts, one of which is steps", "CONTRIBUTING.md", "# X\n\n## Boat board structure\n\n### Eligibility\n\nMembers must own a boat.\n\n### Term\n\nMembers must leave it in June.\n\n### Painting the boats\n\n1. Open the tin.\n2. Stir it.\n3. Close the tin.\n",
			[]string{"policy Eligibility (Boat board structure) | Members must own a boat. | line 7", "policy Term (Boat board structure) | Members must leave it in June. | line 11", "process Painting the boats | 3 steps: Open the tin … Close the tin | lines 15-17"}},
		{"a policy in parts", "CONTRIBUTING.md", "# X\n\n## Oar usage policy\n\n### Goals\n\nTea is warm.\n\n### Your responsibility\n\n- You must mark every oar.\n- You must lock the gate.\n\n### Enforcement\n\n- Repeated offenders may be banned.\n\n## Sails\n\nMembers must wash sails.\n",
			[]string{"policy Oar usage policy |  | lines 5-16", "policy Sails (X) | Members must wash sails. | line 20"}},
		{"a lead and its criteria", "standards/oars.md", "# Oars\n\nText.\n\n## Criteria for good oars\n\nMembers must look at all of these.\n\n### The oar is of wood\n\nPlastic breaks.\n\n### The oar is red\n\nIt is seen.\n",
			[]string{"policy Criteria for good oars |  | lines 7-15"}},
		{"parts that say enough alone", "CONTRIBUTING.md", "# X\n\n## Boats of members\n\n### Painting them red\n\nMembers must mark every oar with red paint.\n\n### Locks on the shed\n\nMembers must lock the big gate in June.\n",
			[]string{"policy Locks on the shed | Members must lock the big gate in June. | line 11", "policy Painting them red | Members must mark every oar with red paint. | line 7"}},
		{"parts of a process, with steps and rules", "docs/blog.md", "# Blog\n\nText.\n\n## Submission review process\n\n### Reading a text\n\n1. Open the text.\n2. Read it twice.\n3. Write to the author.\n4. Close the text.\n\n### Requirements\n\nMembers must not sell it. Two members must approve it. The author must be a member.\n",
			[]string{"process Submission review process (Blog) |  | lines 7-16"}},
		{"parts with an example", "CONTRIBUTING.md", "# X\n\n## Oar usage policy\n\nMembers must mark every oar.\n\n### Requirements\n\nMembers must use red paint.\n\n### Example\n\nTea is warm.\n",
			[]string{"policy Oar usage policy | Members must mark every oar. | line 5", "policy Requirements (Oar usage policy) | Members must use red paint. | line 9"}},
		{"a title that says nothing, with the heading above", "CONTRIBUTING.md", "# X\n\n## Oars\n\nText.\n\n### Best practices\n\n#### Style\n\nMembers must mark each oar. " + strings.Repeat("Tea is warm.\n\n", 40) + "## Oar paint\n\nText.\n\n### Paint\n\nMembers must mix red paint. " + strings.Repeat("Tea is warm.\n\n", 40),
			[]string{"policy Paint (X) | Members must mix red paint. | line 97", "policy Style (Oars) | Members must mark each oar. | line 11"}},
		{"the opening of a long section", "CONTRIBUTING.md", "# X\n\n## Reviews\n\nA review is read by two.\n\nContributors must sign every page. They must not sign it twice.\n\n" + strings.Repeat("Tea is warm.\n\n", 12),
			[]string{"policy Reviews (X) | Contributors must sign every page. | lines 5-7"}},
		{"a table of HTML that a quote would end within", "docs/coding-style.md", "# Style\n\n## Errors must be handled\n\nAlways handle errors.\n\n<table>\n<tr><th>Avoid</th></tr>\n<tr><td>\n\n```go\n" + strings.Repeat("f()\n", 30) + "```\n\n</td></tr>\n</table>\n",
			nil},
		{"a rule in a heading", "docs/coding-style.md", "# Style\n\n#### Never Use Panics\n\nUse errors.\n", []string{"policy Never Use Panics |  | lines 3-5"}},
		{"an order of a manual in a heading", "docs/page.md", "# Page\n\n#### Never Use Panics\n\nUse errors.\n", nil},
		{"terms that a lead promises", "GOVERNANCE.md", "# X\n\nCommon terminology used here is listed below:\n\n* **Harbour Team**: A group that owns the jetty and the gate.\n\n* **Float plan**: A card that says who is out.\n",
			[]string{"role Harbour Team | A group that owns the jetty and the gate. | line 5", "term Float plan | A card that says who is out. | line 7"}},
		{"bold words below another lead", "GOVERNANCE.md", "# X\n\nBoats used here are listed below:\n\n* **Float plan**: A card that says who is out.\n", nil},
		{"responsibilities below a lead", "release.md", "# Release\n\nThe list.\n\nRelease manager responsibilities:\n\n* Cut the branch.\n* Close the gate.\n", []string{"role Release manager |  | lines 5-8"}},
		{"a question about rules", "GOVERNANCE.md", "# X\n\n## FAQ\n\n### Who pays for it?\n\nMembers must pay.\n\n### Paying\n\nMembers must pay.\n", nil},
		{"what says that it holds no rules", "GOVERNANCE.md", "# X\n\n## Answers\n\nThis section is informational. In case of doubt, the rules above overrule it.\n\n### Paying\n\nMembers must pay.\n", nil},
		{"what is to be filled in is no rule", "CONTRIBUTING.md", "# X\n\n## Cards\n\nFor example, contributors must sign every page.\n", nil},
		{"what a program prints as help", "runbooks/boats.md", "# Boats\n\nText.\n\n## Rewrite the boats\n\n```sh\n$ boat rewrite --help\nusage: boat rewrite\n\n  -h, --help            Show help.\n      --id=ID           The boat.\n      --color           Paint it.\n      --dry-run         Print only.\n```\n", nil},
		{"a rule of a style guide that says what to do", "docs/coding-style.md", "# Style\n\nText.\n\n## Register the lamps\n\nWe register lamps at once. Use the desk for it, check the lamp and close the gate.\n", nil},
		{"a bold label describes nothing", "a.md", "# Open the jetty\n\n**Getting the paint and a brush**\n\nPaint lies in the shed by the gate.\n\n1. Wash the boats.\n2. Check the paint.\n3. Close the shed.\n",
			[]string{"process Open the jetty | Paint lies in the shed by the gate. | lines 3-9"}},
		{"a rationale is no rule", "CONTRIBUTING.md", "# X\n\n## Rationale\n\nContributors must sign every page.\n", nil},
		{"rules that are numbered", "guides/api.md", "# API\n\nText.\n\n## Versioning the cards\n\n1. Avoid versions.\n2. Use a date.\n3. Prefer additions.\n4. Check the readers.\n", []string{"policy Versioning the cards (API) |  | lines 7-10"}},
		{"what one may expect", "CONTRIBUTING.md", "# X\n\n## Lamps\n\nWith these lamps, you should expect that some fail. You should expect rain.\n", nil},
		{"what was done already", "plans/completed/boats.md", "# How to paint the boats\n\n1. Wash them.\n2. Paint them.\n", nil},
		{"steps too long for a description", "a.md", "# Opening the jetty\n\n1. Read the forecast of the day and of the day after it, and write both of them on the board at the gate.\n2. Put out the flag.\n",
			[]string{"process Opening the jetty |  | lines 3-4"}},
		{"a decision that says what is to be", "docs/adr/0011-ink.md", "# 11. Ink\n\n## Decision\n\nRain is a fact of life here. Cards will be written in ink.\n",
			[]string{"decision Ink | Cards will be written in ink. | line 5"}},
		{"a decision of reasons", "docs/adr/0012-paper.md", "# 12. Paper\n\n## Decision\n\nPaper, because of these:\n\n- Everybody has it.\n- It must last only a day.\n- Nobody will steal it.\n",
			[]string{"decision Paper |  | lines 5-9"}},
		{"a rule that points to another", "CONTRIBUTING.md", "# X\n\n## Reviews\n\nA review comes first. Contributors must enforce this by a second look.\n",
			[]string{"policy Reviews (X) |  | line 5"}},
		{"many commands under a noun", "README.md", "# Jetty\n\nText.\n\n## Site\n\nBoats are kept here. They are of wood. Some are blue.\n\n```sh\nsite build\nsite check\nsite push\nsite show\n```\n",
			[]string{"process Site (Jetty) | Boats are kept here. | lines 7-14"}},
		{"what is not done is a rule", "CONTRIBUTING.md", "# X\n\n## Changing boats\n\nBoats must not be changed in June. Nothing new is added then. It is not good.\n\nTea is warm.\n\nTea is hot.\n\nTea is green.\n",
			[]string{"policy Changing boats | Boats must not be changed in June. | lines 5-11"}},
		{"what somebody does is a rule", "GOVERNANCE.md", "# X\n\n## Changing the charter\n\nA change is approved by the council. It is reviewed by two maintainers. Members are given 14 days to object.\n",
			[]string{"policy Changing the charter | A change is approved by the council. | line 5"}},
		{"what instructs nobody is no procedure, and in a charter a rule", "GOVERNANCE.md", "# X\n\n## Adding members\n\nMembers are approved by the council within 14 days. Their number is chosen by the chair. Boats are blue. Members may leave.\n",
			[]string{"policy Adding members | Members are approved by the council within 14 days. | line 5"}},
		{"what tells of the text or what a thing is obliges nobody", "CONTRIBUTING.md", "# X\n\n## 4.2 Boats on land\n\nIn this section, we follow a boat to the shed.\n\nThis page should help all who work here.\n\nWe can't always be there for all of you.\n\nWe do not control the members of the club.\n\nWe expect it to change.\n\n## What is a boat?\n\nMembers must have one by June.\n\n## Tips for members\n\nMembers must row with two others.\n\n## 4.3 Boats at sea\n\nMembers must row with two others.\n\n<!--\nMembers must never row alone.\n-->\n",
			[]string{"policy Boats at sea | Members must row with two others. | line 25"}},
		{"principles that are numbered are no steps", "a.md", "# X\n\n## Designing boats\n\n### 1. Early looks\n\nTake the boat to others.\n\n### 2. Nobody alone\n\nAsk the shed.\n\n### 3. Not all in public\n\nKeep the keel in the shed.\n", nil},
		{"what begins with what to prefer is a rule", "CONTRIBUTING.md", "# X\n\n## Addressing review comments\n\nPrefer new commits to the ones that are there. To see them first, open the list. Then click the comment and reply to it. Choose the last one.\n",
			[]string{"policy Addressing review comments | Prefer new commits to the ones that are there. | line 5"}},
		{"duties in a list are no roles", "a.md", "# Responsibilities\n\n- **Manage the keys**: lock and open the gate by day.\n", nil},
		{"systems", "a.md", "# Tools\n\n- [Radio](https://x.example) - a notebook by the base station.\n- **Disk**: holds last night's copy.\n- `rsync`: copies what has changed since.\n",
			[]string{"system Disk | Holds last night's copy. | line 4", "system Radio | A notebook by the base station. | line 3", "system rsync | Copies what has changed since. | line 5"}},
		{"files", "a.md", "# Layout\n\n- `cmd/main.yaml`: where the program begins.\n- `cmd/main.go`: where the program begins.\n- `cmd`: where the program begins.\n",
			[]string{"artifact cmd/main.yaml | Where the program begins. | line 3"}},
		{"policy by name", "a.md", "# Data policy\n\nWe keep little. Cards must be burned every evening.\n",
			[]string{"policy Data policy | Cards must be burned every evening. | line 3"}},
		{"policy by folder", "policies/weather.md", "# Weather limits\n\nBeginners must launch below force 3.\n",
			[]string{"policy Weather limits | Beginners must launch below force 3. | line 3"}},
		{"policy by its list", "a.md", "# Launching\n\n- Boats must be signed.\n- Nobody launches in fog.\n- Guides must carry a radio.\n",
			[]string{"policy Launching |  | lines 3-5"}},
		{"advice is no policy", "a.md", "# Launching\n\n- Boats look best when they are signed.\n- Fog is wet.\n- Guides must carry a radio.\n", nil},
		{"decision without a section", "docs/decisions/paper.md", "# Float plans stay on paper\n\n## Ideas\n\nWe want to look at float plans on a tablet.\n\n## Paper\n\nWe have decided to keep the float plans on paper.\n",
			[]string{"decision Float plans stay on paper | We have decided to keep the float plans on paper. | line 9"}},
		{"what is looked at is no decision", "docs/decisions/paper.md", "# Float plans\n\n## Tablets we want to investigate\n\nThe float plans are on paper for one season.\n", nil},
		{"a description stands alone", "CONTRIBUTING.md", "# X\n\n## Drives\n\nIf you can't see it, you must ask a maintainer. In this case, members must wait. The standards listed above, in other words, must be followed by all members. Here are some rules that all members must follow: be kind. Members must stay below ten boats.\n",
			[]string{"policy Drives (X) | Members must stay below ten boats. | line 5"}},
		{"a paragraph describes before an item", "CONTRIBUTING.md", "# X\n\n## Use of tools\n\nWhen you use tools:\n\n- Members must never use a tool of another club.\n\nMembers are glad of tools, but all of them must be cleaned.\n",
			[]string{"policy Use of tools | Members are glad of tools, but all of them must be cleaned. | lines 5-9"}},
		{"the first sentence describes what points away", "CONTRIBUTING.md", "# X\n\n## Use of boats\n\nThe club keeps nine boats (those by the gate) for its members. They must be cleaned. Also, they must be dried.\n",
			[]string{"policy Use of boats | The club keeps nine boats (those by the gate) for its members. | line 5"}},
		{"a lead describes", "CONTRIBUTING.md", "# X\n\n## Use of boats\n\nThe following rules must be kept when using a boat:\n\n- Must be dry\n- Must be clean\n",
			[]string{"policy Use of boats | The following rules must be kept when using a boat | lines 5-8"}},
		{"a lead of commands describes", "CONTRIBUTING.md", "# X\n\n## Paint boats\n\nIf the boat is old, you can paint it with the paint of the club:\n\n```sh\npaint it\n```\n\nTo dry it in the shed of the club run:\n\n```sh\ndry it\n```\n",
			[]string{"process Paint boats | If the boat is old, you can paint it with the paint of the club | lines 5-15"}},
		{"a plan whose steps are headings", "docs/plan.md", "# Storm plan\n\nThis says what we do.\n\n## Steps\n\n### \U0001f50d 1. Look\n\n- Members must read the board.\n\n### 2. Boats\n\n- Members must take the boats in.\n\n### 3. Gate\n\n- Members must close the gate.\n",
			[]string{"process Storm plan | 3 steps: Look … Gate | lines 7-17"}},
		{"an item below a lead that denies nothing", "CONTRIBUTING.md", "# X\n\n## News\n\nWe publish some regularly:\n\n- Links. Every link must be added by a member.\n- Notes. Members like them. They must be short.\n",
			[]string{"policy News (X) |  | lines 5-8"}},
		{"a decision below its label", "docs/adr/0017-graphs.md", "# 17. Graphs\n\n## Decision\n\nSkeg is the tool of the others, and the most logical one.\n\nDecision:\n\nWait until we have a use for it. We chose the colour.\n",
			[]string{"decision Graphs | Wait until we have a use for it. | lines 5-9"}},
		{"a decision that only a list makes", "docs/adr/0018-tools.md", "# 18. Tools\n\n## Decision\n\nWe've decided to use the following tools:\n\n- Skeg for the boats of all.\n",
			[]string{"decision Tools |  | lines 5-7"}},
		{"a role that its lead announces", "GOVERNANCE.md", "# X\n\n## Secretary\n\nThe secretary is responsible for:\n\n- Notes.\n- Keys.\n", []string{"role Secretary |  | lines 5-8"}},
		{"an image within a sentence", "CONTRIBUTING.md", "# X\n\n## Drives\n\n![Logo](l.png) Members must see [the guide](g.md) and ![the map](p.png). They must press ![a bell](b.png) and wait.\n![Seen](s.png)\n",
			[]string{"policy Drives (X) | Members must see the guide and the map. | lines 5-6"}},
		{"an image without a text within a sentence", "CONTRIBUTING.md", "# X\n\n## Drives\n\nMembers must press ![](b.png) and wait.\n", nil},
		{"an image below a step", "a.md", "# Opening the jetty\n\n1. Read the forecast (1)\n   ![](a.png)\n2. Put out the flag ![](b.png)\n",
			[]string{"process Opening the jetty | 2 steps: Read the forecast (1) … Put out the flag | lines 3-5"}},
		{"a step is no role", "GOVERNANCE.md", "# Handover\n\n## Meet with the team\n\nThe team has a look at the work that is left.\n", nil},
		{"a step of a team is no role", "GOVERNANCE.md", "# Handover\n\n## Inform your team\n\nThe team has a look at the work that is left.\n", nil},
		{"a cheer is no role", "GOVERNANCE.md", "# X\n\n## Stewards\n\nCongratulations to all stewards on the lake!\n", nil},
		{"a role without whose it is", "a.md", "# Roles\n\n## Your line manager\n\nYour line manager helps with the work.\n\n## Our Secretary\n\nThe secretary is responsible for notes.\n",
			[]string{"role Line manager | Your line manager helps with the work. | lines 3-5", "role Secretary | The secretary is responsible for notes. | lines 7-9"}},
		{"this, in a title", "CONTRIBUTING.md", "# Boats\n\n## Who is responsible for this policy?\n\nMembers must write to the council.\n",
			[]string{"policy Who is responsible for this policy? (Boats) | Members must write to the council. | line 5"}},
		{"what leaves something to those it speaks to", "CONTRIBUTING.md", "# X\n\n## Ideas\n\nIf a boat is too small, please apply!\n\n## Boats\n\nYou should feel free to row one.\n\n## Talks\n\nWe ask that you provide feedback on the boats.\n\n## Debts\n\nDon't feel obliged to row a boat.\n", nil},
		{"what a document says of itself", "docs/rules/rowing.md", "# Rowing\n\nRowing must be done by the rules of the club. This document describes them.\n\n## Oars\n\nOars are red.\n\n## Skegs\n\nSkegs are small.\n", nil},
		{"what speaks of what stands above it", "CONTRIBUTING.md", "# X\n\n## Boats\n\n" + strings.Repeat("Tea is warm.\n\n", 12) + "These are the cases:\n\n- The boat is red.\n- The oar is red.\n\nIn all the above cases, members must row with two others.\n",
			[]string{"policy Boats (X) |  | lines 29-34"}},
		{"what takes up a word of what stands before it", "CONTRIBUTING.md", "# X\n\n## Boats\n\n" + strings.Repeat("Tea is warm.\n\n", 12) + "A disclosure is wanted.\n\nThe disclosure must name all members who row.\n",
			[]string{"policy Boats (X) | The disclosure must name all members who row. | lines 29-31"}},
		{"how a program is to be, in the words of a specification", "standards/boats.md", "# Boats\n\nThe client MUST send an id. The id MUST be short. The server SHOULD check it. The answer MUST be short.\n", nil},
		{"what people are to do, in the words of a specification", "standards/boats.md", "# Boats\n\nMembers MUST sign in. Members MUST NOT row alone. A boat MUST be clean. The chair SHOULD check it.\n",
			[]string{"policy Boats | Members MUST sign in. | line 3"}},
		{"the reference of an interface", "src/boats.md", "# Boats\n\n## Arguments\n\nNone.\n\n## Response\n\nOne.\n\n## Get a key\n\n1. Open the page.\n2. Press the key.\n3. Copy it.\n", nil},
		{"a group as what it is not", "GOVERNANCE.md", "# X\n\n## Core maintainers\n\nCore maintainers as a team are responsible for all boats of the club.\n",
			[]string{"role Core maintainers | Core maintainers as a team are responsible for all boats of the club. | line 5"}},
		{"where holders of an office are described", "GOVERNANCE.md", "# X\n\n## Stewards\n\nPEOPLE.md describes all stewards of the club.\n\n## Wardens\n\nWardens of the club are documented on the page of the club.\n", nil},
		{"an office that has all of another", "a.md", "# Roles\n\n## Lead\n\nLeads replace the steward.\n\n- They lock the gate.\n", []string{"role Lead | Leads replace the steward. | lines 5-7"}},
		{"a kind of thing below roles", "a.md", "# Roles\n\nA *static charter* means that the council chooses all members of the club.\n",
			[]string{"term Static charter | A static charter means that the council chooses all members of the club. | line 3"}},
		{"a decision behind the options", "docs/adr/0019-gate.md", "# ADR: Gates\n\n## Gates\n\nGates are of wood.\n\n### Option 2: A new gate\n\nIt is dear.\n\n**Decision:** Keep the old gate.\n",
			[]string{"decision ADR: Gates | Keep the old gate. | line 11"}},
		{"a decision with a label for a number", "docs/adr/0020-oars.md", "# ADR - Oars\n\n## Decision\n\nWe will use red oars.\n", []string{"decision Oars | We will use red oars. | line 5"}},
		{"a plain list that defines", "a.md", "# Glossary\n\n- Gelcoat: the outer skin of a hull.\n- Star crack – a ring in the gelcoat.\n\n## Boats\n\nUse: wash the boats once.\n",
			[]string{"term Gelcoat | The outer skin of a hull. | line 3", "term Star crack | A ring in the gelcoat. | line 4"}},
		{"a manual for users", "content/user/boats.md", "# Boats\n\n## Book a boat\n\n1. Open the book.\n2. Write the name.\n", nil},
		{"what a team must do about a program", "release/boats.md", "# Boats\n\n- The format MUST NOT change.\n- The name MUST NOT change.\n- The size MUST NOT change.\n- The keel MUST NOT change.\n",
			[]string{"policy Boats |  | lines 3-6"}},
		{"what was, is meant or believed", "GOVERNANCE.md", "# X\n\n## Election results\n\nMembers must thank the chair.\n\n## Objectives\n\nMembers must row fast.\n\n## Change\n\nWe believe that all members will work with us.\n\n### The members of the club must\n\nBoats are red.\n", nil},
		{"a sentence that ends with what it speaks of", "CONTRIBUTING.md", "# X\n\n## Boats\n\nTea is in the boat. Members must not drink it.\n", []string{"policy Boats (X) |  | line 5"}},
		{"a checklist whose steps have to be taken", "RELEASING.md", "# Releasing\n\nBoats are sold in May.\n\n## Checklist\n\nMembers must take care. The shore lead must be asked before. Nobody must hurry.\n\nThe following steps must be completed by the shore lead:\n\n- Ensure that the boat is dry. Two members must approve it.\n- Paint its name. It must be short.\n- Lock the gate. The key must go to the desk.\n- Call the buyer. Nobody must be late.\n",
			[]string{"process Checklist (Releasing) | Members must take care. | lines 7-14"}},
		{"duties in order", "charter.md", "# Council\n\nText.\n\n## Charter\n\n1. Set the price of all boats.\n2. Approve the name of each boat.\n3. Keep the gate in order.\n", nil},
		{"how to write to somebody", "charter.md", "# Council\n\nText.\n\n## Getting in touch\n\n1. Send a card to the desk.\n2. Open the gate.\n3. Call the chair.\n", nil},
		{"what is responsible in a heading alone", "a.md", "# Boats\n\n## Responsibilities of the wardens\n\nThe jetty has many gates and lamps.\n", nil},
		{"a list of what a decision needs is none", "docs/adr/0021-lint.md", "# 21. Lint\n\n## Decision\n\nWe will lint all boats.\n\nWe will set up:\n\n- lamps unless we have opted out\n",
			[]string{"decision Lint | We will lint all boats. | lines 5-9"}},
		{"how a tool is used and made", "README.md", "# Boats\n\nBoats is a small tool that paints boats.\n\n## Paint a boat\n\n1. Open the box.\n2. Press the key.\n\n## Build it\n\n1. Clone the repository.\n2. Run the script.\n",
			[]string{"process Build it (Boats) | 2 steps: Clone the repository … Run the script | lines 12-13", "system Boats | Boats is a small tool that paints boats. | line 3"}},
		{"what a text asks for or only announces", "GOVERNANCE.md", "# X\n\n## Please say what you did\n\nMembers must row with two others.\n\n## Oars\n\nMembers must use these oars. The list of them is below.\n\n![oars](o.png)\n", nil},
		{"an aside within a sentence", "CONTRIBUTING.md", "# X\n\n## Boats\n\nAny member of the boats club must (and should!) row with two others.\n", []string{"policy Boats (X) | Any member of the boats club must (and should!) row with two others. | line 5"}},
		{"what only looks like an office", "README.md", "# Boat Operator\n\nThe Boat Operator runs boats on the lake.\n\n## Work across teams\n\nTeams work with each other on boats.\n\n## Wardens\n\nOfficial list of all wardens.\n", nil},
		{"what one can look at under a noun", "a.md", "# Jetty\n\nText.\n\n## Boats\n\nOpen the list to see a boat. To book one, call the desk. Then check the board, and open the gate.\n", nil},
		{"a page that Ruby fills in", "policies/boats.html.md.erb", "---\ntitle: Boats\n---\n\n# <%= current_page.data.title %>\n\nMembers must row with two others.\n\n<%= partial 'x',\n  a: 1 %>\n\n## Rows\n\n1. Open the gate.\n<% if true %>\n2. Close the gate.\n\n## Lock the shed\n\n1. Open the <%= shed %> first.\n2. Close it.\n\n## Show the tag\n\n1. Type it:\n\n    ```erb\n    <%= it %>\n    ```\n2. Close it.\n",
			[]string{"policy Boats | Members must row with two others. | line 7", "process Rows (Boats) | 2 steps: Open the gate … Close the gate | lines 14-16", "process Show the tag (Boats) | 2 steps: Type it … Close it | lines 25-30"}},
		{"a document about itself", "a.md", "# The handbook\n\nThis handbook describes how we work on the jetty.\n", nil},
		{"boilerplate", "a.md", "# License\n\n## Terms\n\n- **Software**: the thing that is licensed here.\n", nil},
		{"rules below another heading", "CONTRIBUTING.md", "# X\n\n## Looks at oars\n\nMembers must look at all oars.\n\n### Guidelines\n\nA red oar:\n\n```sh\nlook --red\n```\n\n### Where oars lie\n\nOars lie by the gate.\n",
			[]string{"policy Looks at oars | Members must look at all oars. | lines 5-13"}},
		{"rules below another heading that are too long", "CONTRIBUTING.md", "# X\n\n## Looks at oars\n\nMembers must look at all oars.\n\n### Guidelines\n\n" + strings.Repeat("Tea is warm.\n\n", 50), nil},
		{"a list in front of rules that are too long", "CONTRIBUTING.md", "# X\n\n## Looks at oars\n\n- Members should look at all oars.\n- Members must wash them.\n\n### Guidelines\n\n" + strings.Repeat("Tea is warm.\n\n", 50),
			[]string{"policy Looks at oars |  | lines 5-6"}},
		{"rules below another heading that are read", "CONTRIBUTING.md", "# X\n\n## Looks at oars\n\nMembers must look at all oars.\n\n### Locks of the big shed\n\nMembers must lock the gate.\n",
			[]string{"policy Looks at oars | Members must look at all oars. | line 5", "policy Locks of the big shed | Members must lock the gate. | line 9"}},
		{"a part that obliges, and an example behind it", "CONTRIBUTING.md", "# X\n\n## Looks at oars\n\nMembers must look at all oars.\n\n### Lamps and keels = red\n\nMembers must wash lamps.\n\n### Example rules\n\nTea is warm.\n",
			[]string{"policy Looks at oars | Members must look at all oars. | lines 5-9"}},
		{"steps that oblige, for agents", "AGENTS.md", "# X\n\n## Runs of the boat\n\nNever run the boat at night.\n\n### Use other boats for looks by hand\n\nA real boat may already lie at the gate. Any boat that you start MUST lie on its own place.\n\n```sh\nexport BOAT=red\nboat init\nboat config oars\nboat config keel\nboat run\n```\n\nAim at your own boat with `boat --own`. Shut down only the boats that you started.\n\n### Painting the boats\n\nPaint must be dry.\n\n1. Open the tin.\n2. Stir it.\n3. Close the tin.\n",
			[]string{"policy Runs of the boat | Never run the boat at night. | lines 5-19", "process Painting the boats | Paint must be dry. | lines 23-27"}},
		{"a heading that stands twice", "CONTRIBUTING.md", "# X\n\n## Waits for boats\n\nBoats are slow.\n\n### Guidelines\n\n```yaml\na: 1\nb: 1\nc: 1\nd: 1\n```\n\n### Boats of one kind\n\nBoats are alike.\n\n### Guidelines\n\n- Avoid red boats.\n- Never row two boats.\n",
			[]string{"policy Boats of one kind |  | lines 18-23"}},
		{"few rules below each heading", "docs/guidelines.md", "# Boats\n\n## All\n\n### Oars and paint\n\n#### Oar marks\n\n- Members must not mark oars.\n\n#### Paint\n\n- Wash it\n\n### Sails of boats\n\nSails are white.\n\n#### Sail marks\n\n- Members must not mark sails.\n\n#### Ropes\n\n- Wash it\n",
			[]string{"policy Sail marks (Boats) | Members must not mark sails. | line 21", "policy Oars and paint (Boats) |  | lines 7-13"}},
		{"one of a rank", "CONTRIBUTING.md", "# X\n\n## P1: oars of boats\n\nMembers must mark oars.\n\n## Oars of boats\n\nMembers must mark oars in June.\n",
			[]string{"policy Oars of boats | Members must mark oars in June. | line 9"}},
		{"what is not to be done, said by each", "AGENTS.md", "# X\n\n## Don'ts\n\n- Don't paint the keel.\n  - It is red.\n- Don't tie the oars.\n- Never wash the lamps.\n",
			[]string{"policy Don'ts (X) |  | lines 5-8"}},
		{"what is not to be done, said by the heading", "AGENTS.md", "# X\n\n## Don'ts\n\n- Don't paint the keel.\n- Tie the oars.\n- Wash the lamps.\n", nil},
		{"what a document for agents opens with", "AGENTS.md", "# AGENTS.md\n\nRead the book. Members must not copy it.\n\n## Oars\n\nMembers must mark oars.\n\n## Sails\n\nMembers must mark sails.\n",
			[]string{"policy Oars (AGENTS.md) | Members must mark oars. | line 7", "policy Sails (AGENTS.md) | Members must mark sails. | line 11"}},
		{"all that a document for agents says", "AGENTS.md", "# AGENTS.md\n\nMembers must not copy the book.\n",
			[]string{"policy Rules for agents (AGENTS.md) | Members must not copy the book. | line 3"}},
		{"headings of principles", "docs/principles.md", "# X\n\nText.\n\n## Principles\n\n### The keel of least weight\n\nChanges to keels should be small and slow. Big ones rot.\n",
			[]string{"policy The keel of least weight (X) | Changes to keels should be small and slow. | line 9"}},
		{"code in a heading", "CONTRIBUTING.md", "# X\n\n## Use `it` to tell what boats do\n\n- Members must use it.\n- Members must wash `it` for boats.\n",
			[]string{"policy Use `it` to tell what boats do (X) |  | lines 5-6"}},
		{"letters in a heading", "docs/contributing/boats.md", "# Red skiffs\n\n## Oar lock plan (OLP)\n\n- Members must mark it.\n- Members must wash it.\n",
			[]string{"policy Oar lock plan (Red skiffs) |  | lines 5-6"}},
		{"what is done before", "CONTRIBUTING.md", "# X\n\n## Before submitting\n\n1. `make oars`\n2. `make boats`\n\n## Before submitting an issue\n\n1. `make oars`\n2. `make boats`\n\n## Before merging\n\nTea is warm.\n",
			[]string{"policy Before submitting (X) |  | lines 5-6", "process Before submitting an issue | 2 steps: make oars … make boats | lines 10-11"}},
		{"what need be no more", "docs/contributing/a.md", "# X\n\nText.\n\n## Books\n\nOur books are made with [ink](https://a.b) just like others.\n\nWe give a pen for books that takes ink by itself. You only need `pen` and `ink` or `lead` for it.\n\nPages lie under `books/` in the order of boats.\n\nFor small changes you can also just edit the pages and send them. They are read by the gate, where you can look at them by a push on the bell.\n\nThe book has a few more pages:\n- The first has a list of boats\n- We have a few small cards\n", nil},
		{"a lead that breaks off", "AGENTS.md", "# X\n\n## Oar books and cards\n\nWhen writing books, lists, and cards of oars:\n\n- Avoid blue ink.\n- Never fold it.\n",
			[]string{"policy Oar books and cards |  | lines 5-8"}},
		{"what is said of a text here", "CONTRIBUTING.md", "# X\n\n## Text of oars\n\nMembers must not copy the text here.\n",
			[]string{"policy Text of oars |  | line 5"}},
		{"what is said of that", "CONTRIBUTING.md", "# X\n\n## Marks of oars\n\nMembers must never paint all marks that have that color.\n",
			[]string{"policy Marks of oars |  | line 5"}},
		{"a part for agents that is a rule", "AGENTS.md", "# X\n\n## Runs of the boat\n\nNever run the boat at night.\n\n### Use other boats for looks by hand\n\nAny boat that you start MUST lie on its own place.\n",
			[]string{"policy Runs of the boat | Never run the boat at night. | line 5", "policy Use other boats for looks by hand | Any boat that you start MUST lie on its own place. | line 9"}},
		{"a numbered rule in a heading", "docs/coding-style.md", "# Style\n\n#### 3.1 Never Use Panics\n\nUse errors.\n",
			[]string{"policy Never Use Panics |  | lines 3-5"}},
		{"code and comments", "a.md", "# Words\n\n```md\nSkeg\n: A small fin under the stern.\n```\n\n<!--\nSkeg\n: A small fin.\n-->\n", nil},
		{"lines behind front matter", "a.md", "---\nname: x\n---\n\nSkeg\n: A small fin under the stern.\n",
			[]string{"term Skeg | A small fin under the stern. | lines 5-6"}},
		{"markdown in a text", "a.md", "Skeg\n: A [small](x.md) **fin** under `the` stern &amp; keel \\*.\n",
			[]string{"term Skeg | A small fin under the stern & keel *. | lines 1-2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(tt.path, tt.text)
			e := drive(t, r)
			if d := cmp.Diff(tt.want, spoken(e)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			hold(t, e, r)
		})
	}
}

func TestEdges(t *testing.T) {
	t.Parallel()
	r := request(
		"roles.md", "# Roles\n\n- **Shore lead**: opens and closes the whole jetty.\n- **Guide**: takes the groups out on the water.\n",
		"words.md", "# Glossary\n\nFloat plan\n: A card that the Guide fills in.\n",
		"policies/weather.md", "# Weather limits\n\nBeginners must stay below force 3.\n",
		"tools.md", "# Tools\n\n- **bookings**: takes reservations and deposits here.\n",
		"open.md", "# Opening the jetty\n\nOwner: Shore lead\n\nThe float plans come first here.\n\n1. Read the forecast against the weather limits.\n2. Print the list:\n\n```sh\nbookings list\n```\n")
	e := drive(t, r)
	got := map[string][]string{}
	for _, a := range e.Atoms {
		for _, edge := range a.Atom.Edges {
			got[string(a.Atom.ID)] = append(got[string(a.Atom.ID)], string(edge.Kind)+" "+edge.Target)
		}
	}
	want := map[string][]string{
		"opening-the-jetty": {"owner shore-lead", "uses bookings", "governed_by weather-limits", "relates_to float-plan"},
		"float-plan":        {"relates_to guide"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("edges (-want +got):\n%s", d)
	}
	hold(t, e, r)
}

// TestBrokenFrontMatter: a file is read without it, and the note says so and counts no file as left out.
func TestBrokenFrontMatter(t *testing.T) {
	t.Parallel()
	e := drive(t, request("a.md", "---\ntitle: [x\n---\n\n# Boats\n\n## Reviews\n\nMembers must sign every page.\n"))
	if d := cmp.Diff([]string{"policy Reviews (Boats) | Members must sign every page. | line 9"}, spoken(e)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if len(e.Notes) != 2 || e.Notes[1].Title != "1 file with front matter that is not YAML, which was skipped: a.md" {
		t.Errorf("got notes %+v", e.Notes)
	}
}

// TestEverySectionIsTold: the notes count and name the sections that gave nothing, and name all that
// max_atoms leaves out.
func TestEverySectionIsTold(t *testing.T) {
	t.Parallel()
	text := "# Boats\n\nBoats float.\n\n"
	for i := range 14 {
		text += fmt.Sprintf("## Rule %c\n\nContributors must sign page %d.\n\n", 'A'+i, i)
	}
	r := request("CONTRIBUTING.md", text)
	r.MaxAtoms = 1
	e := drive(t, r)
	last := e.Notes[len(e.Notes)-1]
	if want := "left out: 13 (13 weaker); 1 section said nothing to propose"; last.Title != want || !strings.Contains(last.Content, "Nothing was found in: CONTRIBUTING.md:1.") {
		t.Errorf("got %+v, want %q", last, want)
	}
	if left := e.Notes[1].Content; strings.Count(left, "Rule ") != 13 {
		t.Errorf("not all are named: %s", left)
	}
}

// TestPartsAreTold: the parts of a rule that is read whole did not say nothing.
func TestPartsAreTold(t *testing.T) {
	t.Parallel()
	e := drive(t, request("CONTRIBUTING.md", "# X\n\n## Oar usage policy\n\n### Goals\n\nTea is warm.\n\n### Your responsibility\n\n- You must mark every oar.\n- You must lock the gate.\n"))
	if said := fmt.Sprint(e.Notes); len(e.Atoms) != 1 || strings.Contains(said, "CONTRIBUTING.md:5") {
		t.Errorf("%q, notes %s", spoken(e), said)
	}
}

// TestMuchSaidNothing: of many documents an open note, which a drain shows, counts the sections that gave nothing.
func TestMuchSaidNothing(t *testing.T) {
	t.Parallel()
	files := []string{"CONTRIBUTING.md", "# Boats\n\n## Paint\n\nMembers must wash it each week.\n"}
	for i := range manyDocuments - 1 {
		files = append(files, fmt.Sprintf("b%d.md", i), "# Boats\n\nBoats float.\n")
	}
	told := func(files []string) string { return fmt.Sprint(drive(t, request(files...)).Notes) }
	if got, want := told(files), "{O open 8 files with 17 sections read; 7 of them said nothing to propose "; !strings.Contains(got, want) {
		t.Errorf("got %s, want %q", got, want)
	}
	if got := told(files[:4]); strings.Contains(got, "of them said nothing") {
		t.Errorf("of few documents: %s", got)
	}
}

// TestHeadingOfADefinition: an atom quotes the question that its text answers.
func TestHeadingOfADefinition(t *testing.T) {
	t.Parallel()
	e := drive(t, request("a.md", "# What is a float plan?\n\nA card that says who is out.\n"))
	if body := string(e.Atoms[0].Atom.Body()); !strings.Contains(body, "> **What is a float plan?**") {
		t.Errorf("got %s", body)
	}
}

// A text on which the parser would take minutes is skipped, and named.
func TestHostileTextIsSkipped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		skip bool
	}{
		"one endless line":  {"# A\n\n" + strings.Repeat("_a*", maxRun), true},
		"a long paragraph":  {strings.Repeat("word word\n", maxRun/5), true},
		"many paragraphs":   {strings.Repeat("word word\n\n", maxRun/5), false},
		"just short enough": {strings.Repeat("a", maxRun), false},
	} {
		_, why := readText(fstest.MapFS{"a.md": {Data: []byte(c.text)}}, "a.md")
		if got := strings.Contains(why, "without an empty line"); got != c.skip {
			t.Errorf("%s: %q, want skipped %v", name, why, c.skip)
		}
	}
}
