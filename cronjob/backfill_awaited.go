package cronjob

import (
	"slices"
	"sort"
	"time"
)

// awaited is an index of the runs that backfills have not settled. It is built once a round, so
// that a search need not look at each backfill.
type awaited struct {
	backfills []Backfill
	// after and until are the starts and the ends of the ranges, each sorted.
	after, until []time.Time
	// except holds, by the number of a run, the indexes of the backfills that leave that run out.
	except map[int64][]int32
	names  *names
}

func awaitedBy(backfills []Backfill, n *names) *awaited {
	if len(backfills) == 0 {
		return nil
	}

	a := &awaited{backfills: backfills, except: make(map[int64][]int32), names: n}
	for i := range backfills {
		b := &backfills[i]
		a.after, a.until = append(a.after, b.After), append(a.until, b.Until)
		for _, run := range b.Except {
			number := n.number(run)
			if places := a.except[number]; len(places) == 0 || places[len(places)-1] != int32(i) {
				a.except[number] = append(places, int32(i))
			}
		}
	}

	slices.SortFunc(a.after, time.Time.Compare)
	slices.SortFunc(a.until, time.Time.Compare)
	return a
}

// has reports whether any of the backfills still has to settle the run.
func (a *awaited) has(run time.Time) bool {
	if a == nil {
		return false
	}
	begun := sort.Search(len(a.after), func(i int) bool { return !a.after[i].Before(run) })
	ended := sort.Search(len(a.until), func(i int) bool { return !a.until[i].Before(run) })
	left := begun - ended
	for _, i := range a.except[a.names.number(run)] {
		if a.backfills[i].covers(run) {
			left--
		}
	}
	return left > 0
}
