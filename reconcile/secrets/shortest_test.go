package secrets

import (
	"strings"
	"testing"
)

// TestShortestOfEachShape finds every form of every shape at the least length that its
// issuer gives it, and leaves alone what is a byte shorter. The samples are put together
// at run time, so that no scanner takes this file for a leak.
func TestShortestOfEachShape(t *testing.T) {
	t.Parallel()
	const (
		word  = "a8Zk3LqP0xWv7TnR5bYc2MdJ9hGf4sEu1oQia8Zk3LqP0xWv7TnR5bYc2MdJ9hGf"
		hex   = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
		upper = "IOSFODNN7EXAMPLEQ2W3E4R5T6Y7U8I9O0PASDFGHJKLZXCVBNM1"
	)
	for _, s := range []struct {
		kind, before, of string
		n                int
		after            string
	}{
		{"aws-key", "AK!IA", upper, 16, ""}, {"aws-key", "AS!IA", upper, 16, ""}, {"aws-key", "AB!IA", upper, 16, ""}, {"aws-key", "AC!CA", upper, 16, ""},
		{"github-token", "gh!p_", word, 20, ""}, {"github-token", "gh!o_", word, 20, ""}, {"github-token", "gh!u_", word, 20, ""}, {"github-token", "gh!s_", word, 20, ""},
		{"github-token", "gh!r_", word, 20, ""}, {"github-token", "github!_pat_", word, 22, ""},
		{"gitlab-token", "gl!pat-", word, 20, ""}, {"gitlab-token", "gl!ptt-", word, 20, ""}, {"gitlab-token", "gl!dt-", word, 20, ""}, {"gitlab-token", "gl!rt-", word, 20, ""},
		{"gitlab-token", "gl!cbt-", word, 20, ""},
		{"anthropic-key", "sk!-ant-", word, 16, ""}, {"api-key", "sk!-", word, 20, ""}, {"stripe-key", "sk!_live_", word, 16, ""}, {"stripe-key", "rk!_live_", word, 16, ""},
		{"slack-token", "xo!xb-", word, 10, ""}, {"slack-token", "xa!pp-1-", word, 10, ""}, {"slack-webhook", "hooks.sl!ack.com/services/T012345/B012345/", word, 16, ""},
		{"slack-webhook", "hooks.sl!ack.com/services/T", word, 6, "/B012345/" + word}, {"slack-webhook", "hooks.sl!ack.com/services/T01234X/B", word, 6, "/" + word},
		{"webhook-secret", "wh!sec_", word, 24, ""}, {"google-key", "AI!za", word, 35, ""}, {"google-token", "ya!29.", word, 20, ""}, {"google-token", "GO!CSPX-", word, 20, ""},
		{"registry-token", "np!m_", word, 36, ""}, {"registry-token", "py!pi-AgE", word, 40, ""}, {"registry-token", "h!f_", word, 30, ""}, {"service-token", "do!p_v1_", hex, 64, ""},
		{"registry-token", "dc!kr_pat_", word, 20, ""}, {"registry-token", "ruby!gems_", hex, 40, ""},
		{"service-token", "S!G." + word[:16] + ".", word, 16, ""}, {"service-token", "S!G.", word, 16, "." + word[:16]}, {"service-token", "hv!s.", word, 24, ""},
		{"service-token", "lin!_api_", word, 32, ""}, {"service-token", "gs!k_", word, 40, ""}, {"service-token", "da!pi", hex, 32, ""}, {"service-token", "shp!at_", hex, 32, ""},
		{"service-token", "shp!ca_", hex, 32, ""}, {"service-token", "shp!pa_", hex, 32, ""}, {"service-token", "shp!ss_", hex, 32, ""}, {"service-token", "AGE-SEC!RET-KEY-1", upper, 50, ""},
		{"bot-token", "12345678:A!A", word, 32, ""}, {"jwt", "ey!J", word, 8, ".eyJ" + word[:8] + "." + word[:8]}, {"jwt", "ey!J" + word[:8] + ".eyJ", word, 8, "." + word[:8]},
		{"jwt", "ey!J" + word[:8] + ".eyJ" + word[:8] + ".", word, 8, ""}, {"azure-key", "Account!Key=", word, 40, "=="}, {"azure-key", "sharedaccess!key=", word, 40, ""},
		{"azure-signature", "x?s!ig=", word, 40, ""}, {"azure-signature", "x&s!ig=", word, 40, "="}, {"azure-signature", "x;s!ig=", word, 40, ""}, {"azure-signature", `x\u0026s!ig=`, word, 40, ""},
		{"aws-secret", "aws_sec!ret_access_key = ", word, 40, ""}, {"authorization", "Author!ization: Basic ", word, 12, ""}, {"authorization", `"proxy-author!ization": "`, word, 12, `"`},
		{"bearer-token", "Bea!rer ", word, 20, ""}, {"login-password", "login otter pass!word ", word, 8, ""}, {"login-password", "curl -u ot!ter:", word, 8, ""},
		{"login-password", "curl --user=ot!ter:", word, 8, ""}, {"url-password", "https://ot!ter:", word, 8, "@example.org/x"},
	} {
		text := func(n int) string {
			return "see " + strings.Replace(s.before, "!", "", 1) + s.of[:n] + s.after + " here"
		}
		mark := "[redacted:" + s.kind + "]"
		if got := RedactText(text(s.n)); !strings.Contains(got, mark) || strings.Contains(got, s.of[:s.n]) || !strings.HasPrefix(got, "see ") || !strings.HasSuffix(got, " here") {
			t.Errorf("%s %s: %d bytes stay: %s", s.kind, s.before, s.n, got)
		}
		if got := RedactText(text(s.n - 1)); strings.Contains(got, mark) {
			t.Errorf("%s %s: %d bytes are taken: %s", s.kind, s.before, s.n-1, got)
		}
	}
}

// TestAssigned takes a value behind each telling name at its least length: random ones
// behind any of them, and shorter ones in quotes behind the plainest.
func TestAssigned(t *testing.T) {
	t.Parallel()
	const long, short = "a8Zk3LqP0xWv7T", "p4ssw0r!"
	gone := map[string]bool{}
	for _, name := range strings.Fields("secret password passwd passphrase token credential api_key api-key apikey access_key access-key accesskey private_key private-key privatekey auth_key auth-key authkey") {
		for _, form := range []string{"%s=%v", "MY_%s: %v", `"%s_2": "%v"`, `\"%s\": \"%v\"`, "%s := '%v'", "%s => %v"} {
			form = strings.Replace(form, "%s", name, 1)
			gone[strings.Replace(form, "%v", long, 1)] = true
			gone[strings.Replace(form, "%v", long[:13], 1)] = strings.ContainsAny(form, `"'`) && !strings.Contains(form, "_2") && quotable(name)
		}
	}
	for _, name := range strings.Fields("api_key apiKey secret-key secretkey access_token accessToken auth-token authtoken private_key privatekey client_secret clientSecret password passwd DB_PASSWORD") {
		gone[name+`: "`+short+`"`], gone[name+`: \"`+short+`\"`] = true, true
		gone[name+`: "`+short[:7]+`"`], gone[name+": "+short], gone[name+`: "`+short] = false, false, false
	}
	for _, name := range []string{"DEPLOY_KEY", "A0_KEY", "A9_KEY"} {
		gone[name+"="+long+"nR"], gone[name+"="+long+"n"] = true, false
	}
	for _, text := range []string{"deploy_key=" + long, "deploy_KEY=" + long, "_KEY=" + long, "DEPLOY_KEYS=" + long, "token " + long, "secret=" + strings.Repeat("a", 20), "password = \"changeme1\""} {
		gone[text] = false
	}
	for text, want := range gone {
		if got := RedactText(text); strings.Contains(got, "[redacted:secret]") != want || !want && got != text {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// quotable names end in a word behind which a short value in quotes is one.
func quotable(name string) bool {
	return strings.HasPrefix(name, "api") || strings.HasPrefix(name, "private") || name == "password" || name == "passwd"
}
