package anchor

// The codes. A code never changes its meaning; a new meaning is a new code.
const (
	BindSyntax    Code = "A_BIND_SYNTAX"
	ProofSyntax   Code = "A_PROOF_SYNTAX"
	Hidden        Code = "A_HIDDEN_CHARACTER"
	BindRole      Code = "A_BIND_ROLE"
	BindMismatch  Code = "A_BIND_ROLE_MISMATCH"
	BindCognition Code = "A_BIND_COGNITION"
	BindUnsaid    Code = "A_BIND_COGNITION_MISSING"
	BindArchetype Code = "A_BIND_ARCHETYPE"
	BindAuthority Code = "A_BIND_AUTHORITY"
	BindParent    Code = "A_BIND_PARENT"

	TenCount   Code = "A_TEN_COUNT"
	TenSyntax  Code = "A_TEN_SYNTAX"
	TenDup     Code = "A_TEN_DUP"
	TenGeneric Code = "A_TEN_GENERIC"
	TenRule    Code = "A_TEN_RULE_UNKNOWN"
	CtxMissing Code = "A_CTX_MISSING"
	CtxEscape  Code = "A_CTX_ESCAPE"
	CtxNotFile Code = "A_CTX_NOTFILE"
	CtxRange   Code = "A_CTX_RANGE"

	CommitArtifact Code = "A_COMMIT_ARTIFACT"
	CommitOutside  Code = "A_COMMIT_OUTSIDE"
	CommitGate     Code = "A_COMMIT_GATE"
	CommitUnlisted Code = "A_COMMIT_GATE_UNLISTED"

	StageOrder   Code = "A_STAGE_ORDER"
	TokenFormat  Code = "A_TOKEN_FORMAT"
	TokenUnknown Code = "A_TOKEN_UNKNOWN"
	TokenExpired Code = "A_TOKEN_EXPIRED"
	Exhausted    Code = "A_RETRIES_EXHAUSTED"
	ArmDrift     Code = "A_ARM_DRIFT"
	ConstChanged Code = "A_CONSTITUTION_CHANGED"
	ConstMissing Code = "A_CONSTITUTION_MISSING"
	ConstBroken  Code = "A_CONSTITUTION_BROKEN"
	ConstPoor    Code = "A_CONSTITUTION_POOR"
	ConstLoose   Code = "A_CONSTITUTION_UNCOMMITTED" // what a session wrote itself binds no session
	ModeUnknown  Code = "A_MODE"
	Persist      Code = "A_PERSIST"
	Taken        Code = "A_ALREADY_BOUND"
	Damaged      Code = "A_RECORD_DAMAGED"
	Forged       Code = "A_PERMIT_FORGED"
	Locked       Code = "A_LOCKED"
	OutsidePaths Code = "A_OUTSIDE_PATHS"
	Unwritable   Code = "A_PROTECTED_PATH"
	ToolUnknown  Code = "A_TOOL_UNKNOWN"
	CallUnread   Code = "A_CALL_UNREAD"

	StrictnessUnknown Code = "A_STRICTNESS"
	PathsAsked        Code = "A_PATHS"       // globs that are none, or lie outside the constitution's
	RoleName          Code = "A_ROLE_NAME"   // no name a file could have
	FocusTaken        Code = "A_FOCUS_TAKEN" // a warning: another active session has the same focus
	Unswept           Code = "A_UNSWEPT"     // a warning: an old entry could not be removed
	NoWorkTree        Code = "A_WORKTREE"    // it is gone, or git does not answer there
	AnchorMissing     Code = "A_ANCHOR_MISSING"
	NotValidated      Code = "A_NOT_VALIDATED"
	RoleOther         Code = "A_ROLE_OTHER"
	PermitExpired     Code = "A_PERMIT_EXPIRED"
	BranchOther       Code = "A_BRANCH_OTHER"
	HeadMoved         Code = "A_HEAD_MOVED"    // a warning where HEAD moved on to a descendant
	PhaseUntold       Code = "A_PHASE"         // a warning, under deep a refusal: no phase is told
	CitedChanged      Code = "A_CITED_CHANGED" // a warning: lines a tension cites are not what they were
	RenewalsOver      Code = "A_RENEWALS_OVER"
	RenewTooLate      Code = "A_RENEW_TOO_LATE"

	CommandRefused Code = "A_COMMAND"    // the gate: what no permit opens in a command line
	GateFault      Code = "A_GATE_FAULT" // the gate could not judge, and so denies
)
