package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// ParseRate reads a rate, and returns it as a number of events per hour. With "5%/h" there is an
// event within an hour in 5 of 100 cases, and with "2/d" there are two events a day on average. The
// units are h, d and w.
func ParseRate(text string) (float64, error) {
	amount, unit, ok := strings.Cut(text, "/")
	hours, known := map[string]float64{"h": 1, "d": 24, "w": 168}[unit]
	number, share := strings.CutSuffix(amount, "%")
	x, err := strconv.ParseFloat(number, 64)
	isFinite := err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
	switch {
	case !ok || !known || !isFinite:
		return 0, fmt.Errorf("%q is not a rate such as 5%%/h or 2/d", text)
	case x < 0:
		return 0, fmt.Errorf("%q: must not be negative", text)
	case share && x >= 100:
		return 0, fmt.Errorf("%q: must be below 100%%", text)
	case share:
		x = -math.Log1p(-x / 100)
	}
	return x / hours, nil
}

// eachHour draws the time until the next event. Argument rate is the average number of events per
// hour.
func eachHour(rate float64, r *rand.Rand) time.Duration {
	return max(seconds(3600/rate*r.ExpFloat64()), 1)
}

// forNodes distinguishes the draws about nodes from those about pods.
const forNodes = 0x6e6f6465732d6279

// fate is the next random disruption of a node.
type fate struct {
	drawn int // the number of draws so far
	kind  DisruptionKind
	away  time.Duration
	// since is when the node went away, or -1. gone sums the times that it was away before.
	since, gone int64
}

// hasRates reports whether nodes are disrupted by chance.
func hasRates(nodes []Node) bool {
	for i := range nodes {
		if nodes[i].Losses+nodes[i].Preemptions > 0 {
			return true
		}
	}
	return false
}
