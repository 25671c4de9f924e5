package rounds

import (
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// draw draws one snapshot, which depends only on the seed and the number.
type draw struct {
	*rand.Rand
	now time.Time
}

// The rounds begin some time after a synctest bubble's clock starts, so that earlier times are
// possible.
var begin = time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)

func newDraw(seed uint64, number int) *draw {
	d := &draw{Rand: rand.New(rand.NewPCG(seed, uint64(number)))}
	d.now = begin.Add(pick(d, 0, 0, time.Millisecond, 300*time.Millisecond, 500*time.Millisecond, 999*time.Millisecond))
	return d
}

// chance returns true with this probability, in percent.
func (d *draw) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d *draw, values ...T) T { return values[d.IntN(len(values))] }

// maybe draws one of the values or, half of the time, nil.
func maybe[T any](d *draw, values ...T) *T {
	if d.chance(50) {
		return nil
	}
	v := pick(d, values...)
	return &v
}

// some keeps a value with this probability, in percent.
func some[T any](d *draw, percent int, p *T) *T {
	if d.chance(percent) {
		return p
	}
	return nil
}

// ago returns the time this many seconds before the round. The API has whole
// seconds.
func (d *draw) ago(seconds int) metav1.Time {
	return metav1.NewTime(d.now.Truncate(time.Second).Add(-time.Duration(seconds) * time.Second))
}

// age draws a number of seconds. Many are short, or close to a delay that the controllers use.
func (d *draw) age() int {
	switch d.IntN(4) {
	case 0:
		return d.IntN(12)
	case 1:
		return pick(d, 9, 10, 11, 19, 20, 21, 39, 40, 41, 79, 80, 81, 599, 600, 601)
	case 2:
		return d.IntN(100)
	}
	return d.IntN(4000)
}
