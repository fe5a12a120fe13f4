package testscripts

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// people are who has a clone of the scene shared.
var people = []string{"ann", "ben", "cy", "dee"}

// shareBlows fall on clones that share a hub.
var shareBlows = []blow{
	{name: "shared drain", scene: "shared", kinds: force, acts: by("ann", "", drainAll[1:]...)},
	// Who wakes up when its lease is over, and another has swept it, writes nothing.
	{name: "zombie drain", scene: "shared", kinds: pause, acts: by("ann", "", drainAll[1:]...), amid: hours(act{"ben", drainAll, ""}, act{"cy", []string{"odd", "sync"}, ""}), fault: true},
	{name: "shared approve", scene: "shared", kinds: force, before: drained, acts: by("ben", "alpha", "approve", "alpha")},
	{name: "zombie approve", scene: "shared", kinds: pause, before: drained, acts: by("ben", "alpha", "approve", "alpha"), amid: hours(act{"cy", []string{"odd", "approve", "alpha"}, "alpha"})},
	{name: "sync", scene: "shared", kinds: every, before: func(w *world) {
		drained(w)
		w.person("ann", "many", "approve", "many")
	}, acts: by("cy", "", "sync"), amid: hours(act{"ann", []string{"odd", "sync"}, ""})},
	{name: "shared gate", scene: "shared", kinds: every, acts: by("ann", "L-0001", "gate", "framing", "--reason", "asked"), amid: hours(act{"ben", []string{"odd", "gate", "framing", "--reason", "asked too"}, "L-0001"})},

	{name: "hub refuses", scene: "shared", before: hook("pre-receive", "exit 1\n"), acts: by("ann", "", drainAll[1:]...), after: unhook, fault: true},
	{name: "hub only reads", scene: "shared", before: func(w *world) {
		w.must("ann", "git", "config", "remote.origin.pushurl", "file://"+filepath.Join(w.home, "nowhere.git"))
	}, acts: by("ann", "", drainAll[1:]...), after: func(w *world) { w.must("ann", "git", "config", "--unset", "remote.origin.pushurl") }, fault: true},
	{name: "hub takes nothing and hangs", scene: "shared", before: hook("pre-receive", "exec sleep 1000\n"), acts: by("ann", "", drainAll[1:]...), after: unhook, fault: true},
	{name: "hub takes all and hangs", scene: "shared", before: hook("post-receive", "exec sleep 1000\n"), acts: by("ann", "", drainAll[1:]...), after: unhook, fault: true},
	{name: "hub takes all and dies", scene: "shared", before: hook("post-receive", "kill -9 $PPID\n"), acts: by("ann", "", drainAll[1:]...), after: unhook, fault: true},
	{name: "hub does not answer", scene: "shared", before: func(w *world) {
		w.write("mute", "#!/bin/sh\nexec sleep 1000\n")
		w.must("ann", "git", "config", "remote.origin.uploadpack", filepath.Join(w.home, "mute"))
	}, acts: by("ann", "", drainAll[1:]...), after: func(w *world) { w.must("ann", "git", "config", "--unset", "remote.origin.uploadpack") }, fault: true},
	{name: "hub races", scene: "shared", before: racing, acts: by("ann", "", drainAll[1:]...), after: unhook},
	{name: "hub races an approval", scene: "shared", before: func(w *world) { drained(w); racing(w) }, acts: by("ben", "alpha", "approve", "alpha"), after: unhook},
}

// by is one act in a person's clone.
func by(who, answer string, argv ...string) func(*world) []act {
	return func(*world) []act { return []act{{who, append([]string{"odd"}, argv...), answer}} }
}

// drained has everything in review, seen by all.
func drained(w *world) {
	w.must("dee", drainAll...)
	for _, c := range people {
		w.must(c, "odd", "sync")
	}
	w.later(time.Minute)
}

// hook is a hook of the hub's.
func hook(name, script string) func(*world) {
	return func(w *world) { w.write("hub.git/hooks/"+name, "#!/bin/sh\n"+script) }
}

func unhook(w *world) {
	w.must("", "sh", "-c", "rm -f hub.git/hooks/*; rm -rf hub.git/objects/tmp_objdir-* hub.git/races")
}

// racing lets a person's push to the hub win a few races: a hook moves the branch
// between a clone's fetch and its push.
func racing(w *world) {
	hook("update", fmt.Sprintf(`[ "$1" = refs/heads/main ] || exit 0
echo >>races
[ "$(wc -l <races)" -le %d ] || exit 0
unset GIT_QUARANTINE_PATH
env -u GIT_OBJECT_DIRECTORY git update-ref refs/heads/main "$(env -u GIT_OBJECT_DIRECTORY git -c user.name=Eve -c user.email=eve@example.org commit-tree -p main -m 'a person was first' 'main^{tree}')"
`, 1+w.rnd.IntN(7)))(w)
}

// crowds are many at once, who are not struck: who comes second waits, is told to
// come again, or does what is left.
var crowds = []blow{
	{name: "crowd in one repository", scene: "review", before: more, acts: crowd("shop", "shop"), after: func(*world) {}},
	{name: "crowd in four clones", scene: "shared", before: func(w *world) { drained(w); more(w) }, acts: crowd(people...), after: func(*world) {}},
	{name: "struck crowd", scene: "review", kinds: force, before: more, acts: crowd("shop", "shop"), after: func(*world) {}},
	{name: "struck crowd in four clones", scene: "shared", kinds: force, before: func(w *world) { drained(w); more(w) }, acts: crowd(people...), after: func(*world) {}},
	{name: "drains in four clones", scene: "shared", acts: func(*world) (all []act) {
		for _, who := range people {
			all = append(all, act{who, drainAll, ""}, act{who, []string{"odd", "sync"}, ""})
		}
		return all
	}, after: func(*world) {}},
	{name: "clock jumps", scene: "ready", acts: one("", drainAll[1:]...), around: jumps(""), after: func(*world) {}, states: []string{"blocked"}, fault: true},
	{name: "clock jumps over the month's end", scene: "ready", before: func(w *world) { w.set(moment("2026-03-31T23:59:58Z")) }, acts: one("", drainAll[1:]...), around: jumps("2026-04"), after: func(*world) {}, states: []string{"blocked"}, fault: true},
	{name: "clock jumps for a crowd", scene: "shared", before: func(w *world) { drained(w); more(w) }, acts: crowd(people...), around: jumps(""), after: func(*world) {}, states: []string{"blocked"}, fault: true},
}

// more files tasks that are ready, so that there is work for a crowd.
func more(w *world) {
	where := w.clones()[0]
	for _, title := range []string{"Delta", "Epsilon"} {
		w.must(where, "odd", "task", "add", title, "--role", "shore-lead", "--kind", "extract")
		w.person(where, strings.ToLower(title), "task", "ready", strings.ToLower(title))
	}
}

// crowd is two to eight acts at once, spread over some clones.
func crowd(where ...string) func(*world) []act {
	return func(w *world) []act {
		all := []act{
			{"", drainAll, ""}, {"", drainAll, ""},
			{"", []string{"odd", "approve", "alpha"}, "alpha"}, {"", []string{"odd", "reject", "beta", "--reason", "no", "--retry"}, "beta"},
			{"", []string{"odd", "task", "add", "Zeta", "--role", "shore-lead", "--kind", "extract"}, ""},
			{"", []string{"odd", "journal", "add", "L", "Tides win", "Slack water is the only time beginners stay dry."}, ""},
			{"", []string{"odd", "gate", "framing", "--reason", "asked"}, "L-0001"},
			{"", []string{"odd", "approve", "many"}, "many"},
		}
		w.rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:2+w.rnd.IntN(len(all)-1)]
		for i := range all {
			all[i].dir = where[w.rnd.IntN(len(where))]
		}
		return all
	}
}

// jumps moves the clock to and fro while acts are at work, and leaves it at the latest it was.
func jumps(month string) func(*world) {
	return func(w *world) {
		began := w.now
		latest := began
		for range 3 + w.rnd.IntN(4) {
			time.Sleep(time.Duration(w.rnd.IntN(60)) * time.Millisecond)
			span := []time.Duration{time.Second, time.Hour, 26 * time.Hour, 31 * 24 * time.Hour}[w.rnd.IntN(4)]
			if w.rnd.IntN(2) == 0 || month != "" {
				span = -span
			}
			to := began.Add(span)
			if month != "" && w.rnd.IntN(2) == 0 {
				to = moment(month + "-01T00:00:00Z").Add(time.Duration(w.rnd.IntN(100)) * time.Second)
			}
			w.set(to)
			w.struck++ // a lease that is over by the clock is swept, whoever lives
			if to.After(latest) {
				latest = to
			}
		}
		w.set(latest)
	}
}
