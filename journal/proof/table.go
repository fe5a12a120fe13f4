package proof

// rules is the table of invariants, in their order. A new invariant is a new row.
func rules() []rule {
	return []rule{
		{Row{
			Invariant: 1, Name: "Cap", Unit: "atoms",
			Way:        "lower the atom to what the cap allows, or have a person verify it in a commit of their own",
			Evidence:   "confidence and verified of every atom a machine's commit changes; [session] cap in the odd.toml of its parent, a proposal's in the board's at its claim",
			Recomputed: "the rung that counts, before and after, is compared with the cap; no human: entry is new, except sync's on a proven approval",
			Attested:   "that a commit with a person's address was made by that person; signing closes it",
		}, capped},
		{Row{
			Invariant: 2, Name: "One write surface", Unit: "files",
			Way:        "take out by hand what is too much, in a commit of your own",
			Evidence:   "the paths, modes and blobs of every machine commit; the outcome in the run's ledger",
			Recomputed: "a proposal holds atoms below the bundle and exactly the paths, base blobs and result blobs its run recorded; a board commit changes the board's keys of its own task, its ledger, journal, proposals and a pause.toml where none stood; a machine's merge is git's own, and takes in nothing that the agent made where no odd.toml named it yet",
			Attested:   "that the recorded blobs are what reconcile returned for the session's emission",
		}, surface},
		{Row{
			Invariant: 3, Name: "Human gate", Unit: "transitions",
			Way:        "put the task back to where it was, and odd approve it from review",
			Evidence:   "a task's state before and after; parents, author and trailers of the commit that says done; the recorded proposal; the approval Odd-Approval names",
			Recomputed: "with require_signed every decision of a person is signed by a key that allowed_signers gives its author; done comes from review, in a person's merge of the recorded proposal or on an empty commit by a person upon it that has landed; a machine makes only its own moves, as the outcome beside them says, and changes a task by these alone; a claim is of a task that drains take, its dependencies done, counts one attempt and ends within [drain] lease, other steps count none; a proposal lands only under a person's commit, or by an op that says so",
			Attested:   "that the person read what they approved, and typed the confirmation; that a person who took a task away or filed its id twice meant to; whose a signature is, without allowed_signers",
		}, gated},
		{Row{
			Invariant: 4, Name: "One drain", Unit: "board commits",
			Way:        "find out what drained beside the lock and stop it; odd task show tells what the earlier run left",
			Evidence:   "the claims and results of every run, in their order along the board's line; the sweeps between them",
			Recomputed: "a run claims one thing at a time, a task once and on one line, and writes nothing more once another run has claimed, unless that took its claim back and nothing of it lands; a machine's merge brings no claims of another line that no person took in, and no rules of the board under claims made beside them",
			Attested:   "that clones without a remote in common did not drain beside each other before a person merged them; a run that wrote nothing; where [board] target is another branch, which lines it has where the clone lacks it",
		}, serialized},
		{Row{
			Invariant: 5, Name: "Two-tier budget", Unit: "records",
			Way:        "leave the records as they are, and have a person set the month right in [budget]",
			Evidence:   "claim, session, outcome and abandoned records; odd.toml and the task at the claim",
			Recomputed: "the claim reserves what odd.toml and the task say, in a commit before the session that puts the task in progress; the month's spending and open reservations fit the hard stop and the team's envelope at every claim; nothing is claimed while pause.toml stands; a session comes with its outcome, and where no task asks for it is one of as many as its claim says; each close names an open claim, costs no less than its sessions, and no more than its reservation but for what it tells of as above it",
			Attested:   "the cost a session reported",
		}, budgeted},
		{Row{
			Invariant: 6, Name: "Persona floor", Unit: "sessions",
			Way:        "send what came of it back with odd reject, and give the role what it lacks",
			Evidence:   "every session record; the role of its claim; the bundle and [persona.floor] at that claim",
			Recomputed: "the role is compiled from the bundle of the claim's commit, and is in force and not below any rule of the floor",
			Attested:   "that a session without a work role needed none",
		}, floored},
		{Row{
			Invariant: 7, Name: "Real edges only", Unit: "atoms and briefs",
			Way:        "send what came of it back with odd reject, and mend the edges by hand",
			Evidence:   "the edges of every atom a machine's commit changes; the brief of every session whose run's tree, refs/odd/run/RUN, is in the clone",
			Recomputed: "no machine writes an edge that reconcile refuses: owns, or one that leaves the bundle; the persona in a brief is, to the byte, what the real edges of its claim's commit make, with edges to nothing as gaps",
			Attested:   "the brief of a run whose tree was pruned or not fetched",
		}, real},
		{Row{
			Invariant: 8, Name: "One lease, one stance", Unit: "gates, claims and results",
			Way:        "put governance back as the last gate left it, and pass a gate with odd gate",
			Evidence:   "governance/**, principles and odd.toml's lease in every commit; gates.jsonl and lease.toml at the parent; Odd-Gate, Odd-Lease and Odd-By; the lease every claim and result names, and the ledger before it",
			Recomputed: "only a person's commit at a gate writes them: one row more in an unbroken chain, by its author, with the lease as its SHA-256 says and every field, file and task as that gate's matrix allows; stance and state are the chain's; a claim names the lease that was valid then, with its use counted from the ledger, and is of its stance, scope and hash lock, unless it is of no task and for a validator or an observer, whose sessions land nothing but what they found; nothing goes to review under a lease that had ended",
			Attested:   "that the person at the gate read the diff; what a task that lies outside tasks/ counts for a milestone; that an odd.toml before the range, or the first in it, was a person's word",
		}, slowly},
		{Row{
			Invariant: 9, Name: "Propose only", Unit: "proposals",
			Way:        "have a person say what becomes of it, with odd proposals",
			Evidence:   "proposals/*.jsonl in every commit, against its parents; the proposals a gate's row answers",
			Recomputed: "a run writes its own file alone, and proposes in no person's name; what becomes of a proposal is a person's to say, in their own commit and name; an accepted one names a row of the chain; a row answers only proposals that were open before it",
			Attested:   "that a sign which was proposed was there",
		}, proposes},
		{Row{
			Invariant: 10, Name: "Role separation", Unit: "records",
			Way:        "send what came of it back with odd reject, and have it judged by a session of its own",
			Evidence:   "the contract in every session record: role, mode, handoffs, override; the claim, the task and odd.toml at the claim; the outcome and its paths",
			Recomputed: "the role is the claim's or the task's and the mode the role's; an outcome proposes files only after a session that may change any; findings come from a validator alone; no session judges what one of the same run and task made; a validator's handoff is from execution or resolution; an override collapses exactly the modes its claim declares",
			Attested:   "that the session was given nothing but its brief; what a role that a profile composed may do; that a session without a contract, for a task that names no role, is from before there were any; that a claim which names another role than its task was asked for by a person",
		}, separate},
		{Row{
			Invariant: 11, Name: "Encoded handoffs", Unit: "sessions and handoffs",
			Way:        "send what came of it back with odd reject, and write the handoff and its journal entry first",
			Evidence:   "handoffs/*.md and journal/*.tsv at the claim and in the result commit; the paths and blobs a session record names",
			Recomputed: "a downstream session names a handoff that stood at its claim with that blob, of a transition its role reads, whole and told of by a journal entry; a run's handoff comes with its session and its entry, in the session's mode; what an override produced, and what was made from it, is tagged; an override begins in the journal with its claim and ends there with its outcome or its sweep",
			Attested:   "that what a handoff says is good enough to work from",
		}, passed},
		{Row{
			Invariant: 12, Name: "Permit before tools", Unit: "records",
			Way:        "send what came of it back with odd reject, and let it be made under a permit",
			Evidence:   "the anchor in every session record; the anchor record of its token; the claim, its odd.toml and the constitution at its commit; the outcome and its paths",
			Recomputed: "a session is read while its permit holds; a permit stands once in its run's ledger, of the mode, tier and time that odd.toml asks for, as the role of its claim under the file that was that role's constitution there, with the context hash of that commit; every path an outcome proposes is one that the permit of its claim allows and does not deny, before it ends; after the first anchored run there is no other",
			Attested:   "what the proof said: its payload and anchor hashes; the moments a run wrote down; that a run without an anchor, where none before it had one, is from before there were any",
		}, permitted},
		{Row{
			Invariant: 13, Name: "Iron gate", Unit: "changes",
			Way:        "send it back with odd reject, and judge it again with odd review --refresh",
			Evidence:   "the paths, modes and bytes of every proposal with Odd-Op, at its base and as it is; the op's records: base, candidate, rules, tier, findings; the task, odd.toml and board at its claim; the history of the task's file",
			Recomputed: "a proposal of files that are no atoms names an op of its own run and task, whose base, tree, commit and tier are its own; no file is outside the task's paths, of another mode than a file's, or one that no machine writes; by the same rules the same bytes have no hard finding that refuses, as many findings as recorded, and no higher tier; what landed by itself has no atom, and a tier that may by the rules there are",
			Attested:   "that the checks ran and passed; verdicts by rules that odd or odd.toml no longer has; a proposal that a forge rebased, but for its paths",
		}, changed},
		{Row{
			Invariant: 14, Name: "Append-only", Unit: "files and records",
			Way:        "put the file back as the parent of that commit has it, in a commit of your own",
			Evidence:   "ledger/**.jsonl, journal/*.tsv, proposals/*.jsonl and governance/*.jsonl in every commit, against each parent",
			Recomputed: "the old bytes begin the new ones and no file goes (a person may take out a doubled tab); of another repository that a person's merge brings into a folder, they are there; a run has one ledger file, in the month it began in, which holds its own records, added by that run and spelt as odd spells them; one that was taken away and comes back says nothing anew but what is behind it; an outcome's trace is the SHA-256 of the bytes before it and the Odd-Trace of its commits",
			Attested:   "that branches nobody keeps were not rewritten before they were fetched",
		}, growing},
		{Row{
			Invariant: 15, Name: "One ending", Unit: "ops",
			Way:        "end the op with odd op cancel, or odd reject its task",
			Evidence:   "op and op_end records in every ledger of a commit; the claims and outcomes they stand between; the task's state and result; Odd-Approved-By, Odd-Rejected-By, Odd-Approval and Odd-Proposal; review_ttl and auto_apply in odd.toml",
			Recomputed: "every op is replayed by the table of phases: each record's own id and the hash of the one before it, no phase skipped or tried too often, no clock set back, no tier lowered, what was judged unchanged behind the gate, every ref moved once between an intent and its applied, one ending and nothing after it; an op without one waits while its task is in review for what it moved its branch to, or its run's claim is open; the op that a claim announced is told when that claim is closed, by the run itself or by the one that takes the claim back; what lands by itself does so where odd.toml says auto_apply, on the branch it names, NOTIFY_APPLY only after a person saw it, and its task goes to review; a merge and a no are told in that person's commit, an expiry when review_ttl is over and with the task back in backlog",
			Attested:   "that the refs moved when the records say; what the phases found; who saw a preview",
		}, concluded},
		{Row{
			Invariant: 16, Name: "Verified bytes", Unit: "files",
			Way:        "put the file back as the parent of that commit has it, in a commit of your own",
			Evidence:   "the verified entries of every file a machine's commit changes, as its parent has it",
			Recomputed: "a file that a person verified has the same bytes, mode and place after a machine's commit; of a task all but where it stands on the board",
			Attested:   "that a person who changed what another verified meant to",
		}, unchanged},
	}
}
