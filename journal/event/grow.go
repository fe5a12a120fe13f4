package event

import (
	"bytes"
	"maps"
	"slices"
)

// Appender is Append for the one program that writes a file record by record: it
// remembers what it returned last, and so reads a file only where it is given
// another one. Its zero value remembers nothing.
type Appender struct {
	file []byte // as returned last
	run  string
	seq  int // of its last record
}

// Append is the function of that name.
func (a *Appender) Append(f []byte, r Record) ([]byte, error) {
	known := len(f) > 0 && bytes.Equal(f, a.file) && r.Run == a.run && r.Seq > a.seq
	if !known {
		return a.keep(Append(f, r))
	}
	line, err := encodeListed(r)
	if err != nil {
		return nil, err
	}
	a.file, a.seq = slices.Concat(f, line), r.Seq
	return a.file, nil
}

// keep remembers a file that Append has read whole.
func (a *Appender) keep(f []byte, err error) ([]byte, error) {
	*a = Appender{}
	if err != nil {
		return nil, err
	}
	from := bytes.LastIndexByte(f[:len(f)-1], '\n') + 1
	last, err := decode(f[from : len(f)-1])
	if err == nil {
		*a = Appender{file: f, run: last.Run, seq: last.Seq}
	}
	return f, nil
}

// Grown is a file and its sum, from which the sum of that file grown longer
// follows without reading it all again. Its zero value is of no file.
type Grown struct {
	Sum  FileSum
	file []byte
	recs int
	run  string // of every record so far, whose seqs rise: a later one repeats none. "" where that is not so
	seq  int    // of the last
}

// Grow is SumFile(b), from g where b begins with g's file. g stays as it is.
func (g Grown) Grow(b []byte) (Grown, error) {
	if g.run != "" && bytes.HasPrefix(b, g.file) {
		more, err := Read(b[len(g.file):])
		sum, bad := sumOf(g.Sum.clone(), more, g.recs)
		if next := g.after(more); err == nil && bad == nil && next.run != "" {
			next.Sum, next.file = sum, b
			return next, nil
		}
	}
	recs, err := Read(b)
	if err != nil {
		return Grown{}, err
	}
	var next Grown
	if len(recs) > 0 {
		next = Grown{run: recs[0].Run, seq: recs[0].Seq - 1}.after(recs)
	}
	next.file = b
	next.Sum, err = sumOf(FileSum{Team: map[string]map[string]int64{}}, recs, 0)
	return next, err
}

// after counts more records.
func (g Grown) after(more []Record) Grown {
	for _, r := range more {
		if r.Run != g.run || r.Seq <= g.seq {
			g.run = ""
		}
		g.seq = r.Seq
	}
	g.recs += len(more)
	return g
}

// clone shares nothing with s that sumOf changes.
func (s FileSum) clone() FileSum {
	s.Open, s.Abandoned = slices.Clone(s.Open), slices.Clone(s.Abandoned)
	teams := make(map[string]map[string]int64, len(s.Team))
	for month, of := range s.Team {
		teams[month] = maps.Clone(of)
	}
	s.Team = teams
	s.Ops = maps.Clone(s.Ops)
	if s.Alerts != nil {
		alerts := make(map[string][]string, len(s.Alerts))
		for month, names := range s.Alerts {
			alerts[month] = slices.Clone(names)
		}
		s.Alerts = alerts
	}
	return s
}
