package config

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Toolbox is [toolbox]: what the tools may do that odd gives to models which have
// none of their own.
type Toolbox struct {
	Run     [][]string    // beginnings of the commands that a session may run; none: it runs the project's checks alone
	Hosts   []string      // web_hosts: exact names that it may read pages of; none: the web is off
	Timeout time.Duration // tool_timeout: of one call, default 30s
	Command time.Duration // command_timeout: of one call that runs a command, default 5m
}

var hostName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)
})

// host accepts the name of a host on the Internet, as it stands in an address: no
// scheme, no port, no pattern and no number.
func host(s string) error {
	if len(s) > 253 || !hostName().MatchString(s) {
		return fmt.Errorf(`%q: want the name of a host in lower case, like "pkg.go.dev"`, s)
	}
	if strings.HasSuffix(s, ".localhost") || strings.HasSuffix(s, ".local") || strings.HasSuffix(s, ".internal") {
		return fmt.Errorf("%q: is a name inside, want one of the open Internet", s)
	}
	return nil
}
