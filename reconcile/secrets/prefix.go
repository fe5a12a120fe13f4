package secrets

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// prefixed are the tokens of services that can be told by how they begin, as the
// services document them: the beginning, and the pattern of what follows it.
var prefixed = [][2]string{
	{"SG.", `[A-Za-z0-9_=-]{16,}\.[A-Za-z0-9_=-]{16,}`},
	{"hvs.", `[A-Za-z0-9_-]{24,}`},
	{"hvb.", `[A-Za-z0-9_-]{100,}`},
	{"lin_api_", `[A-Za-z0-9]{32,}`},
	{"gsk_", `[A-Za-z0-9]{40,}`},
	{"dapi", `[a-f0-9]{32}`},
	{"shpat_", `[a-fA-F0-9]{32}`},
	{"shpca_", `[a-fA-F0-9]{32}`},
	{"shppa_", `[a-fA-F0-9]{32}`},
	{"shpss_", `[a-fA-F0-9]{32}`},
	{"AGE-SECRET-KEY-1", `[0-9A-Z]{50,}`},
	{"dop_v1_", `[a-f0-9]{64}`},
	{"doo_v1_", `[a-f0-9]{64}`},
	{"dor_v1_", `[a-f0-9]{64}`},
	{"glsa_", `[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}`},
	{"glc_", `[A-Za-z0-9+/]{32,}={0,2}`},
	{"eyJrIjoi", `[A-Za-z0-9]{60,}={0,2}`},
	{"sntryu_", `[a-f0-9]{64}`},
	{"sntrys_eyJ", `[A-Za-z0-9+/=_-]{60,}`},
	{"NRAK-", `[A-Za-z0-9]{27}`},
	{"NRJS-", `[a-f0-9]{19}`},
	{"NRII-", `[A-Za-z0-9-]{32}`},
	{"figd_", `[A-Za-z0-9_-]{20,}`},
	{"ntn_", `[0-9]{11}[A-Za-z0-9]{35}`},
	{"secret_", `[A-Za-z0-9]{43}`},
	{"dp.pt.", `[A-Za-z0-9]{43}`},
	{"sbp_", `[a-f0-9]{40}`},
	{"sb_secret_", `[A-Za-z0-9_-]{20,}`},
	{"r8_", `[A-Za-z0-9]{37}`},
	{"xai-", `[A-Za-z0-9]{60,}`},
	{"pplx-", `[A-Za-z0-9]{40,}`},
	{"lsv2_pt_", `[a-f0-9]{32}_[a-f0-9]{10}`},
	{"lsv2_sk_", `[a-f0-9]{32}_[a-f0-9]{10}`},
	{"tskey-", `[a-z]{3,12}-[A-Za-z0-9-]{16,}`},
	{"pscale_", `(?:pw|tkn|oauth)_[A-Za-z0-9_=.-]{32,64}`},
	{"napi_", `[a-z0-9]{40,}`},
	{"phx_", `[A-Za-z0-9]{40,}`},
	{"re_", `[A-Za-z0-9]{8}_[A-Za-z0-9]{24}`},
	{"ATATT3", `[A-Za-z0-9_=-]{180,}`},
	{"ATBB", `[A-Za-z0-9]{32}`},
	{"SSWS 00", `[A-Za-z0-9_-]{40}`},
	{"HRKU-AA", `[0-9A-Za-z_-]{58}`},
	{"EAAA", `[A-Za-z0-9_-]{22,60}`},
	{"EAAC", `[A-Za-z0-9]{100,}`},
	{"EAAM", `[A-Za-z0-9]{100,}`},
	{"sq0atp-", `[A-Za-z0-9_-]{22}`},
	{"LTAI", `[A-Za-z0-9]{17,21}`},
	{"p8e-", `[a-f0-9]{32}`},
	{"api_org_", `[A-Za-z]{34}`},
	{"sgp_", `(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}`},
	{"ops_eyJ", `[A-Za-z0-9+/]{200,}={0,3}`},
	{"A3-", `[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}`},
	{"fo1_", `[A-Za-z0-9_-]{43}`},
	{"fm1", `[ar]_[A-Za-z0-9+/]{100,}={0,3}`},
	{"fm2_", `[A-Za-z0-9+/]{100,}={0,3}`},
	{"sha256~", `[A-Za-z0-9_-]{43}`},
	{"shippo_live_", `[a-f0-9]{40}`},
	{"SK", `[0-9a-f]{32}`},
	{"key-", `[a-f0-9]{32}`},
	{"rdme_", `[a-z0-9]{70}`},
	{"tfp_", `[A-Za-z0-9_.=-]{59}`},
	{"duffel_live_", `[A-Za-z0-9_=-]{43}`},
	{"dt0c01.", `[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}`},
	{"EZAK", `[A-Za-z0-9]{54}`},
	{"EZTK", `[A-Za-z0-9]{54}`},
	{"xkeysib-", `[a-f0-9]{64}-[A-Za-z0-9]{16}`},
	{"ico-", `[A-Za-z0-9]{32}`},
	{"4b1d", `[A-Za-z0-9]{38}`},
	{"PMAK-", `[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34}`},
	{"pnu_", `[A-Za-z0-9]{36}`},
	{"s-s4t2", `(?:ud|af)-[a-f0-9]{64}`},
	{"AKCp", `[A-Za-z0-9]{69}`},
	{"cmVmd", `[A-Za-z0-9]{59}`},
	{"ABSK", `[A-Za-z0-9+/]{109,}={0,2}`},
	{"bedrock-api-key-", `[A-Za-z0-9+/]{28,}`},
	{"v1.0-", `[a-f0-9]{24}-[a-f0-9]{146}`},
	{"t1.", `[A-Z0-9a-z_-]+={0,2}\.[A-Z0-9a-z_-]{86}={0,2}`},
	{"AQVN", `[A-Za-z0-9_-]{35,38}`},
	{"fio-u-", `[A-Za-z0-9_=-]{64}`},
}

// prefixHints are the beginnings as a shape has its hints.
func prefixHints() string {
	var out []string
	for _, p := range prefixed {
		out = append(out, strings.ToLower(p[0]))
	}
	return strings.Join(out, "|")
}

func prefixPattern() string {
	var out []string
	for _, p := range prefixed {
		out = append(out, regexp.QuoteMeta(p[0])+`(?:`+p[1]+`)`)
	}
	return strings.Join(out, "|")
}

// prefixRests are the patterns behind the beginnings, compiled when one is met.
var prefixRests = sync.OnceValue(func() []*expression {
	var out []*expression
	for _, p := range prefixed {
		out = append(out, newExpression(`^(?:`+p[1]+`)`))
	}
	return out
})

// tokenAt is the token of prefixed that begins at i, where a word does.
func tokenAt(b, _ []byte, i int) (lo, hi int, ok bool) {
	if i > 0 && (nameByte(lowerByte(b[i-1])) || b[i-1] == '.') {
		return 0, 0, false
	}
	for n, p := range prefixed {
		if !bytes.HasPrefix(b[i:], []byte(p[0])) {
			continue
		}
		rest := prefixRests()[n].compiled().FindIndex(b[i+len(p[0]):])
		if rest == nil {
			continue
		}
		hi = i + len(p[0]) + rest[1]
		if whole := hi == len(b) || !nameByte(lowerByte(b[hi])); whole && shannonEntropy(b[i:hi]) >= 1 && !isCrossedOut(b[i:hi]) {
			return i, hi, true
		}
	}
	return 0, 0, false
}
