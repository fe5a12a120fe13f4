package session

import (
	"strings"
	"testing"
)

// The samples are put together at run time, so that no scanner takes this file for a leak.
func TestRedact(t *testing.T) {
	t.Parallel()
	b62 := "a8Zk3LqP0xWv7TnR5bYc2MdJ9hGf4sEu1oQi"
	tests := []struct{ kind, secret, text string }{
		{"private-key", "MIIEow", "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEow\n-----END RSA PRIVATE" + " KEY-----\n"},
		{"private-key", "b3Blbn", "-----BEGIN OPENSSH PRIVATE" + " KEY-----\nb3Blbn (torn"},
		{"aws-key", "IOSFODNN7EXAMPLE", "id AK" + "IAIOSFODNN7EXAMPLE here"},
		{"github-token", b62, "push with gh" + "p_" + b62},
		{"github-token", b62, "github" + "_pat_" + b62},
		{"anthropic-key", b62, "x-api-key: sk-" + "ant-api03-" + b62},
		{"api-key", b62, `use "sk-` + b62 + `"`},
		{"slack-token", "1234567890-abc", "xo" + "xb-1234567890-abc"},
		{"jwt", "c2lnbmF0dXJl", "Bearer ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"},
		{"secret", b62, "CLIENT_SECRET=" + b62},
		{"secret", b62, `"password": "` + b62 + `"`},
		{"secret", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "API_TOKEN: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"},
		{"secret", b62, "export DEPLOY_KEY=" + b62},
	}
	for _, tt := range tests {
		got := string(Redact([]byte("before " + tt.text + " after")))
		if strings.Contains(got, tt.secret) || !strings.Contains(got, "[redacted:"+tt.kind+"]") {
			t.Errorf("%q: got %q, want it gone as %s", tt.text, got, tt.kind)
		}
		if !strings.HasPrefix(got, "before ") {
			t.Errorf("%q: the text around is lost: %q", tt.text, got)
		}
		if twice := string(Redact([]byte(got))); twice != got {
			t.Errorf("not idempotent: %q, then %q", got, twice)
		}
	}
}

func TestRedactLeavesAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"blob 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b and tree e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
		"idempotency_key: 01JD8Q2W3E4R5T6Y7V8A9S0DFG",
		"BLOB_KEY=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
		"run-01JD8Q2W3E4R5T6Y7V8A9S0DFG.jsonl",
		"The password is changed every ninety days by the editor on duty.",
		"password: correct-horse-battery-staple-and-more",
		"a token is an amount of text; tokens: 128000",
		"secret: ${{ secrets.NPM_TOKEN }}",
		"token = config/keys/v2/2024/current",
		"token: process.env.GITHUB_TOKEN",
		"a risk-assessment-of-the-whole-project-2026",
		"see the sk-learn-style-naming-of-modules page",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
		"api_key=xxxxxxxxxxxxxxxx1111",
		"CHANGES in v1.2.3-rc.1+build.20260101",
		"[redacted:secret]",
	} {
		if got := string(Redact([]byte(text))); got != text {
			t.Errorf("got %q, want %q untouched", got, text)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("token=abc0123456789def9")
	f.Add("-----BEGIN PRIVATE" + " KEY-----")
	f.Fuzz(func(t *testing.T, s string) {
		once := string(Redact([]byte(s)))
		if twice := string(Redact([]byte(once))); twice != once {
			t.Errorf("not idempotent: %q, then %q", once, twice)
		}
	})
}
