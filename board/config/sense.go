package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/board/sense"
	"github.com/odd-cli/odd/reconcile/policy"
)

// sensorName accepts the name of a sensor of odd sense.
func sensorName(s string) error {
	if _, ok := sense.Find(s); ok {
		return nil
	}
	var all []string
	for _, known := range sense.Sensors() {
		all = append(all, known.Name)
	}
	return fmt.Errorf("%q is no sensor; the sensors are %s, and custom runs a command of your own", s, strings.Join(all, ", "))
}

// sensorList reads what [sense.sensors] lists for a sensor.
func sensorList(name string, n node) ([]string, error) {
	if err := sensorName(name); err != nil {
		return nil, err
	}
	s, _ := sense.Find(name)
	var out []string
	var err error
	switch s.Takes {
	case sense.Command:
		return argv(n)
	case sense.Chores:
		out, err = words(n, func(s string) error { _, _, err := sense.ParseChore(s); return err })
	default:
		out, err = words(n, repoGlob)
	}
	if err == nil && len(out) == 0 {
		return nil, errors.New("lists nothing; name " + string(s.Takes) + `, like ["**"] for all, or take the line out`)
	}
	return out, err
}

// taskPath accepts a glob of files that a task may change.
func taskPath(s string) error {
	if err := policy.CheckGlob(s); err != nil {
		return err
	}
	return repoGlob(s)
}
