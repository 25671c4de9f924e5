// Database runs a job whose state is in SQLite: an adapter for services that keep jobs in
// tables. It prints the events of the job in virtual time.
//
//	go run -C examples/database . state.db
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/batchplan/batchplan/job"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: database FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "database:", err)
		os.Exit(1)
	}
}

// run adds a job of three indexes, and plays it to its end.
func run(file string) error {
	s, err := open(file)
	if err != nil {
		return err
	}
	defer s.db.Close()
	const uid = "render-1"
	if err := s.add(uid, "render", threeIndexes()); err != nil {
		return err
	}
	for now := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC); ; {
		end, err := s.round(context.Background(), uid, now)
		if err != nil {
			return err
		}
		for _, e := range end.Events {
			fmt.Println(now.Format(time.TimeOnly), e.Reason, e.Message)
		}
		if end.Status.Finished() != "" {
			fmt.Println(end.Status)
			return nil
		}
		now = later(now, end.Requeue)
		if err := s.work(now); err != nil {
			return err
		}
	}
}

// threeIndexes is a job that works on three indexes, two at a time.
func threeIndexes() job.Spec {
	completions, parallelism := int32(3), int32(2)
	return job.Spec{
		Completions: &completions, Parallelism: &parallelism, CompletionMode: job.Indexed,
		Template: job.Template{RestartPolicy: job.RestartNever, Containers: []string{"main"}},
	}
}

// later is when something happens next: at the latest in a minute, when pods have ended.
func later(now time.Time, again job.Requeue) time.Time {
	after, ok := again.After(now)
	if !ok {
		after = time.Minute
	}
	return now.Add(min(after.Round(time.Second), time.Minute))
}

// work stands for the workers: each pod runs to its end. The first pod of index 1 fails.
func (s *store) work(now time.Time) error {
	_, err := s.db.Exec(`UPDATE pods AS p SET finished = ?, exit_code = fails, phase = iif(fails, 'Failed', 'Succeeded')
		FROM (SELECT uid, idx = 1 AND NOT EXISTS (SELECT 1 FROM pods AS earlier WHERE earlier.idx = 1 AND earlier.finished > 0) AS fails
			FROM pods) AS chance
		WHERE p.uid = chance.uid AND p.finished = 0`, now.Unix())
	return err
}
