package sim

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// The wanted text is what String returns for the parsed distribution, or the error.
func TestParseDist(t *testing.T) {
	for text, want := range map[string]string{
		" 90s ": "1m30s", "0": "0s", "1.5": "1.5s", "0s": "0s", "9e99": "876000h0m0s", "900000h": "876000h0m0s",
		"constant(1m)": "1m0s", "uniform(10s, 20s)": "uniform(10s, 20s)", "uniform( 3 ,3 )": "uniform(3s, 3s)", "uniform(0,1)": "uniform(0s, 1s)",
		" exponential (1m) ": "exponential(1m0s)", "lognormal(1m,0.8)": "lognormal(1m0s, 0.8)",
		"pareto(10s, 1.5)": "pareto(10s, 1.5)", "weibull(1m0s, 1e-7)": "weibull(1m0s, 1e-07)",

		"":              `error: "" is not a duration such as 90s or 1h30m`,
		"NaN":           `error: "NaN" is not a duration such as 90s or 1h30m`,
		"-1":            `error: "-1": must not be negative`,
		"-1s":           `error: "-1s": must not be negative`,
		"uniform(1s,2s": `error: "uniform(1s,2s": a closing bracket is missing`,
		"normal(1s)": `error: "normal(1s)": unknown distribution "normal"; ` +
			"there are uniform, exponential, lognormal, pareto and weibull",
		"uniform(1s)":        `error: "uniform(1s)": uniform takes low and high, not 1 value`,
		"exponential(1s,2s)": `error: "exponential(1s,2s)": exponential takes mean, not 2 values`,
		"uniform(x,2s)":      `error: "uniform(x,2s)": low: "x" is not a duration such as 90s or 1h30m`,
		"uniform(1s,x)":      `error: "uniform(1s,x)": high: "x" is not a duration such as 90s or 1h30m`,
		"uniform(2s,1s)":     `error: "uniform(2s,1s)": high: 1s: must not be below low, 2s`,
		"pareto(1s,0)":       `error: "pareto(1s,0)": shape: 0: must be above 0`,
		"lognormal(1s,Inf)":  `error: "lognormal(1s,Inf)": sigma: +Inf: must be above 0`,
		" weibull(1s,NaN)":   `error: "weibull(1s,NaN)": shape: NaN: must be above 0`,
		"pareto(1s,x)":       `error: "pareto(1s,x)": shape: strconv.ParseFloat: parsing "x": invalid syntax`,
	} {
		d, err := ParseDist(text)
		have := d.String()
		if err != nil {
			have = "error: " + err.Error()
			if d != (Dist{}) {
				t.Errorf("%q: %v with an error", text, d)
			}
		} else if again, err := ParseDist(have); err != nil || again != d {
			t.Errorf("%q: %q becomes %v, %v", text, have, again, err)
		}
		if have != want {
			t.Errorf("%q: got  %s\nwant %s", text, have, want)
		}
	}
	for d, want := range map[Dist]string{Constant(time.Hour): "1h0m0s true false", {}: "0s true true", Uniform(2, 3): "2ns false false"} {
		fixed, ok := d.Fixed()
		if have := fmt.Sprint(fixed, ok, d.IsZero()); have != want {
			t.Errorf("%v: %s, want %s", d, have, want)
		}
	}
}

// follows checks that n draws follow a distribution: the share of draws below each quantile is
// right, within five standard deviations.
func follows(t *testing.T, name string, n int, draw func() float64, below func(x float64) float64) {
	t.Helper()
	draws := make([]float64, n)
	for i := range draws {
		draws[i] = draw()
	}
	slices.Sort(draws)
	for _, q := range []float64{0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98} {
		x := draws[int(q*float64(n))]
		if have := below(x); math.Abs(have-q) > 5*math.Sqrt(q*(1-q)/float64(n)) {
			t.Errorf("%s: %g of the draws lie below %g, and %g should", name, q, x, have)
		}
	}
}

// Draws follow the distribution functions of the textbooks.
func TestDraw(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(x float64) float64 { return (1 + math.Erf(x/math.Sqrt2)) / 2 }
	for d, below := range map[Dist]func(x float64) float64{
		Uniform(2*time.Second, 5*time.Second): func(x float64) float64 { return (x - 2) / 3 },
		Exponential(3 * time.Second):          func(x float64) float64 { return 1 - math.Exp(-x/3) },
		LogNormal(3*time.Second, 0.7):         func(x float64) float64 { return normal(math.Log(x/3) / 0.7) },
		Pareto(3*time.Second, 1.5):            func(x float64) float64 { return 1 - math.Pow(3/x, 1.5) },
		Weibull(3*time.Second, 0.7):           func(x float64) float64 { return 1 - math.Exp(-math.Pow(x/3, 0.7)) },
	} {
		follows(t, d.String(), 20_000, func() float64 { return d.Draw(r).Seconds() }, below)
	}
	follows(t, "a rate", 20_000, func() float64 { return eachHour(4, r).Hours() },
		func(x float64) float64 { return 1 - math.Exp(-4*x) })

	for d, want := range map[Dist]time.Duration{
		{}: 0, Constant(time.Minute): time.Minute, Constant(-1): 0, Constant(1): 1, Constant(math.MaxInt64): century, Constant(century): century,
		Constant(century - time.Hour): century - time.Hour, LogNormal(time.Second, 1e9): 0, {kind: distExponential, a: math.NaN()}: 0,
	} {
		if have := d.Draw(rand.New(rand.NewPCG(1, 3))); have != want && (d.kind != distLogNormal || have != century) {
			t.Errorf("%v: %v, want %v", d, have, want)
		}
	}
	if have := eachHour(1e30, r); have != 1 {
		t.Errorf("the least distance is %v", have)
	}
}

// The runs of pods follow the chances of their description.
func TestPod_Run(t *testing.T) {
	const n = 20_000
	r := rand.New(rand.NewPCG(4, 5))
	share := func(name string, have int, want float64) {
		t.Helper()
		if math.Abs(float64(have)/n-want) > 5*math.Sqrt(want*(1-want)/n) {
			t.Errorf("%s: %d of %d, want a share of %g", name, have, n, want)
		}
	}
	p := Pod{Duration: Constant(100 * time.Second), Failure: 0.2, Disruption: 0.3, DisruptionRate: 9, ExitCode: 3}
	var failed, disrupted, done int
	var parts, ends []float64
	for range n {
		switch l := p.run(Start{}, r); {
		case l == Life{For: 100 * time.Second}:
			done++
		case l.ExitCode == 3 && !l.Disrupted:
			failed++
			parts = append(parts, l.For.Seconds())
		case l.ExitCode == exitKilled && l.Disrupted:
			disrupted++
			ends = append(ends, l.For.Seconds())
		default:
			t.Fatalf("%+v", l)
		}
	}
	// left(x) is the chance that the rate does not disrupt a pod within x seconds.
	left := func(x float64) float64 { return math.Exp(-9 * x / 3600) }
	half := (1 - left(100)) / (9. / 3600) / 100 // the mean of left over the duration
	share("done", done, 0.56*left(100))
	share("failed", failed, 0.2*half)
	share("disrupted", disrupted, 1-0.56*left(100)-0.2*half)
	for name, times := range map[string][]float64{"failures": parts, "disruptions": ends} {
		if mean := EstimateOf(times); mean.Mean < 42 || mean.Mean > 52 ||
			slices.Max(times) > 100 || slices.Min(times) > 1 {
			t.Errorf("%s come after %v seconds", name, mean)
		}
	}

	at := 50 * time.Second
	for _, test := range []struct {
		pod  Pod
		want Life
	}{
		{Pod{Failure: 1, FailAfter: Constant(at)}, Life{at, 1, false}},
		{Pod{FailIn: []Window{{0, time.Second}, {10 * time.Second, 1}}, FailAfter: Constant(3 * time.Second)}, Life{3 * time.Second, 1, false}},
		{Pod{FailIn: []Window{{10*time.Second - 2, 2}}, FailAfter: Constant(3)}, Life{100 * time.Second, 0, false}},
		{Pod{FailIn: []Window{{10*time.Second - 2, 3}}, FailAfter: Constant(3)}, Life{3, 1, false}},
		{Pod{FailIn: []Window{{110 * time.Second, 3}}, FailAfter: Constant(3)}, Life{100*time.Second + 3, 1, false}},
		{Pod{FailIn: []Window{{110*time.Second + 1, 3}}, FailAfter: Constant(3)}, Life{100 * time.Second, 0, false}},
		{Pod{Disruption: 1, Behave: func(s Start, l *Life, _ *rand.Rand) { *l = Life{For: s.At, ExitCode: l.ExitCode} }}, Life{10 * time.Second, exitKilled, false}},
	} {
		test.pod.Duration = Constant(100 * time.Second)
		if have := test.pod.run(Start{At: 10 * time.Second}, r); have != test.want {
			t.Errorf("%+v: %+v, want %+v", test.pod.FailIn, have, test.want)
		}
	}
}

// The rate of submissions changes over the day as Diurnal documents.
func TestDiurnal(t *testing.T) {
	for _, test := range []struct{ swing, is float64 }{{0.8, 0.8}, {7, 1}, {-1, 0}} {
		r := rand.New(rand.NewPCG(6, 7))
		next, at := Diurnal(time.Minute, test.swing, 15*time.Hour), time.Duration(0)
		follows(t, fmt.Sprint("swing ", test.swing), 40_000, func() float64 {
			at = next(at, r)
			return math.Mod(at.Hours(), 24)
		}, func(h float64) float64 {
			turn := 2 * math.Pi / 24
			return h/24 + test.is/turn*(math.Sin((h-15)*turn)-math.Sin(-15*turn))/24
		})
		if mean := at / 40_000; mean < 58*time.Second || mean > 62*time.Second {
			t.Errorf("swing %v: the mean distance is %v", test.swing, mean)
		}
	}
	if at := Diurnal(century, 1, 0)(century-1, rand.New(rand.NewPCG(1, 1))); at < century {
		t.Errorf("at the end of time: %v", at)
	}
}

// Streams of jobs are merged by their times. Of jobs at the same time, the one of the first stream comes first.
func TestMerge(t *testing.T) {
	j := func(name string, at time.Duration) Job { return Job{Name: name, Submit: at} }
	bad := func(after ...Job) iter.Seq2[Job, error] {
		return func(yield func(Job, error) bool) {
			for _, j := range after {
				if !yield(j, nil) {
					return
				}
			}
			yield(Job{Name: "bad"}, fmt.Errorf("bad"))
		}
	}
	like := Job{Name: "n", Submit: 2}
	for want, streams := range map[string][]iter.Seq2[Job, error]{
		"":                               nil,
		"a1 b2":                          {Of(j("a", 1), j("b", 2))},
		"a1 d1 e2 b3 c3 f9":              {Of(j("a", 1), j("b", 3), j("c", 3)), Of(), Of(j("d", 1), j("e", 2), j("f", 9))},
		"b1 a2 c2":                       {Of(j("a", 2)), Of(j("b", 1)), Of(j("c", 2))},
		"bad!":                           {Of(j("a", 1)), bad()},
		"a1 b2 d3 bad!":                  {Of(j("b", 2), j("c", 9)), bad(j("a", 1), j("d", 3))},
		"a1 b2 bad!":                     {bad(j("a", 1), j("b", 2))},
		"n-02 n-12 n-22 a3":              {Of(j("a", 3)), Jobs(3, 1, AllAtOnce(), like)},
		"n-02 n-16 n-210":                {Jobs(3, 1, Every(4), like)},
		"n-02 n-11000000002 a2000000000": {Jobs(2, 1, Between(Constant(time.Second)), like), Of(j("a", 2e9))},
	} {
		var have []string
		for j, err := range Merge(streams...) {
			text := fmt.Sprint(j.Name, int64(j.Submit))
			if err != nil {
				text = j.Name + "!"
			}
			have = append(have, text)
		}

		if text := strings.Join(have, " "); text != want {
			t.Errorf("got %q, want %q", text, want)
		}
		for range Merge(streams...) {
			break // all streams end
		}
	}
}
