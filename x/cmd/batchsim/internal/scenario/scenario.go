package scenario

import (
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/sim"
)

// Scenario is a scenario file. Times count from the start.
//
// The tag limit is "positive", or it contains the minimum and the maximum of a number, and perhaps
// one more value that is allowed. If the zero value of a number means a default, "never" or "no
// limit", the number cannot be set to 0. Otherwise a grid over 0, 1 and 2 would simulate something
// else at 0.
type Scenario struct {
	Start        time.Time    `yaml:"start"`
	Until        Duration     `yaml:"until" limit:"positive"`
	MaxEvents    int64        `yaml:"maxEvents" limit:"1 1000000000000"`
	Nodes        []Nodes      `yaml:"nodes"`
	ControlPlane ControlPlane `yaml:"controlPlane"`
	Disruptions  []Disruption `yaml:"disruptions"`
	Quota        *Quota       `yaml:"quota"`
	Load         []Source     `yaml:"load"`
	// Stages are files with stages of KWOK.
	Stages []string `yaml:"stages"`
	// Pods define how pods behave. An entry applies to jobs by their names. If several apply, the
	// last one counts.
	Pods []Behaviour `yaml:"pods"`
	// Jobs and CronJobs have fields of batch/v1 that change the spec of every job and CronJob.
	Jobs     yaml.Node `yaml:"jobs"`
	CronJobs yaml.Node `yaml:"cronJobs"`
	Options  Options   `yaml:"options"`

	file   string
	loaded loaded
}

// Nodes are machines of one kind.
type Nodes struct {
	Count  Count    `yaml:"count"`
	Pods   int32    `yaml:"pods" limit:"1 1000000"`
	CPU    Quantity `yaml:"cpu" limit:"positive"`
	Memory Quantity `yaml:"memory" limit:"positive"`
	Skew   Duration `yaml:"skew"`
	// Name is the beginning of the names of the nodes.
	Name string `yaml:"name"`
	// Price is the cost of an hour of a node.
	Price float64 `yaml:"price" limit:"0 1000000000"`
	// Lost and Preempted are the rates at which a node is lost or preempted. Away is how long a
	// lost or preempted node is gone.
	Lost      Rate `yaml:"lost"`
	Preempted Rate `yaml:"preempted"`
	Away      Dist `yaml:"away" limit:"positive"`
	// Autoscale makes an autoscaler add and remove the nodes. Count is then the maximum number of
	// nodes.
	Autoscale *Autoscale `yaml:"autoscale"`
}

// Autoscale is sim.Scale.
type Autoscale struct {
	Min   int      `yaml:"min" limit:"0 1000000"`
	Wait  Duration `yaml:"wait"`
	Start Dist     `yaml:"start"`
	Idle  Duration `yaml:"idle"`
}

// ControlPlane is sim.ControlPlane.
type ControlPlane struct {
	Latency    Dist       `yaml:"latency"`
	WatchLag   Dist       `yaml:"watchLag"`
	QPS        float64    `yaml:"qps" limit:"0.001 1000000"`
	Burst      int        `yaml:"burst" limit:"1 1000000"`
	Workers    int        `yaml:"workers" limit:"1 10000"`
	Fail       float64    `yaml:"fail" limit:"0 0.9999"`
	LoseReply  float64    `yaml:"loseReply" limit:"0 0.9999"`
	Outages    []Outage   `yaml:"outages"`
	Restarts   []Duration `yaml:"restarts"`
	KeepMemory bool       `yaml:"keepMemory"`
	Skew       Duration   `yaml:"skew"`
	PodGC      int        `yaml:"podGC" limit:"1 1000000000 -1"`
}

// Outage is sim.Outage. Of is what is down: "controllers" or "apiServer".
type Outage struct {
	From Duration `yaml:"from"`
	For  Duration `yaml:"for"`
	Of   string   `yaml:"of"`
}

// Disruption is sim.Disruption. Kind is "lost" or "drained".
type Disruption struct {
	Kind    string   `yaml:"kind"`
	Node    int      `yaml:"node" limit:"0 999999"`
	At      Duration `yaml:"at"`
	Back    Duration `yaml:"back" limit:"positive"`
	Removed Duration `yaml:"removed" limit:"positive"`
}

// Quota is sim.Quota.
type Quota struct {
	Pods     int32 `yaml:"pods" limit:"0 1000000000"`
	Backfill bool  `yaml:"backfill"`
}

// Source is where jobs come from: a file of one kind.
type Source struct {
	Manifest string `yaml:"manifest"`
	SWF      string `yaml:"swf"`
	CSV      string `yaml:"csv"`
	// Count is the number of copies of each object of a manifest, and Arrivals are the times at
	// which they arrive.
	Count    Count    `yaml:"count"`
	Arrivals Arrivals `yaml:"arrivals"`
	// Limit is the maximum number of jobs that are read from a trace. By default all are read.
	Limit int `yaml:"limit" limit:"1 1000000000"`
	// MaxPods is the maximum number of pods that a job of a trace runs at the same time. By default
	// it runs all of them.
	MaxPods int32 `yaml:"maxPods" limit:"1 1000000"`
}

// Arrivals are the times at which jobs arrive: one job in each interval, jobs at random distances,
// or jobs that arrive independently of each other, at a rate that varies over the day.
type Arrivals struct {
	From    Duration `yaml:"from"`
	Every   Duration `yaml:"every"`
	Between Dist     `yaml:"between"`
	Mean    Duration `yaml:"mean" limit:"positive"`
	Swing   float64  `yaml:"swing" limit:"0 1"`
	Peak    Duration `yaml:"peak"`
}

// Options are the options of the planners.
type Options struct {
	// Kubernetes makes the planners decide as the controllers of [release.Newest] do, quirks
	// included.
	Kubernetes bool `yaml:"kubernetes"`
	Backoff    struct {
		Base   Duration `yaml:"base" limit:"positive"`
		Factor int      `yaml:"factor" limit:"1 1000"`
		Max    Duration `yaml:"max" limit:"positive"`
	} `yaml:"backoff"`
	PendingTimeout       Duration `yaml:"pendingTimeout" limit:"positive"`
	TerminatingTimeout   Duration `yaml:"terminatingTimeout" limit:"positive"`
	SuccessBeatsDeadline bool     `yaml:"successBeatsDeadline"`
	// Gangs is true if a job that asks for a gang starts with all pods of the gang or with none. It
	// must be set if there is such a job, because no release of Kubernetes has gangs by default.
	Gangs              *bool `yaml:"gangs"`
	MaxIgnoredFailures int32 `yaml:"maxIgnoredFailures" limit:"1 2147483647"`
	// CatchUp is "Latest", "None" or "All".
	CatchUp         string   `yaml:"catchUp"`
	CatchUpWindow   Duration `yaml:"catchUpWindow" limit:"positive"`
	CatchUpLimit    int32    `yaml:"catchUpLimit" limit:"1 2147483647"`
	SkipOnResume    bool     `yaml:"skipOnResume"`
	SkipHeld        bool     `yaml:"skipHeld"`
	MaxActive       int32    `yaml:"maxActive" limit:"1 2147483647"`
	ReplaceWhenGone bool     `yaml:"replaceWhenGone"`
	Jitter          Duration `yaml:"jitter"`
}

// Load reads files. Their names and contents show whether they are scenarios, manifests, traces or
// stages. At most one file may be a scenario. The settings change this scenario, or an empty one.
func Load(files []string, settings []Setting) (*Scenario, error) {
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1}
	name := ""
	var others []string
	for _, file := range files {
		node, err := readScenario(file)
		if err != nil {
			return nil, err
		}
		switch {
		case node == nil:
			others = append(others, file)
		case name != "":
			return nil, fmt.Errorf("%s: %s is a scenario already, and there can be only one", file, name)
		default:
			root, name = node, file
		}
	}
	for _, s := range settings {
		if err := set(root, s); err != nil {
			return nil, err
		}
	}
	s := &Scenario{file: cmpOr(name, "scenario")}
	if err := decode(s.file, root, s); err != nil {
		return nil, err
	}
	for _, file := range others {
		s.add(file)
	}
	return s, s.load()
}

// add adds a file. It counts as a trace if its name is that of an SWF or CSV file, and otherwise as
// a manifest.
func (s *Scenario) add(file string) {
	file, _ = filepath.Abs(file)
	switch base := strings.TrimSuffix(strings.ToLower(file), ".gz"); {
	case strings.HasSuffix(base, ".swf"):
		s.Load = append(s.Load, Source{SWF: file})
	case strings.HasSuffix(base, ".csv"):
		s.Load = append(s.Load, Source{CSV: file})
	default:
		s.Load = append(s.Load, Source{Manifest: file})
	}
}

// path returns the path of a file that a scenario names.
func (s *Scenario) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(s.file), file)
}

// World makes the world of a seed. Several goroutines may call it.
func (s *Scenario) World(seed uint64) sim.World {
	w := sim.World{
		Seed: seed, Start: s.Start, Until: time.Duration(s.Until), MaxEvents: s.MaxEvents,
		CronJobs: s.loaded.cronJobs, Nodes: s.nodes(), Disruptions: s.disruptions(), ControlPlane: s.controlPlane(),
	}
	if s.Quota != nil {
		w.Admission = &sim.Quota{Pods: s.Quota.Pods, Backfill: s.Quota.Backfill}
	}
	var streams []iter.Seq2[sim.Job, error]
	for i := range s.loaded.streams {
		streams = append(streams, s.loaded.streams[i](seed))
	}
	if len(streams) > 0 {
		w.Jobs = sim.Merge(streams...)
	}
	return w
}

func (s *Scenario) nodes() (out []sim.Node) {
	for _, n := range s.Nodes {
		node := sim.Node{
			Pods:        n.Pods,
			Resources:   sim.Resources{CPU: n.CPU.milli(), Memory: n.Memory.bytes()},
			Skew:        time.Duration(n.Skew),
			Losses:      float64(n.Lost),
			Preemptions: float64(n.Preempted),
			Away:        n.Away.Dist,
			Price:       n.Price,
		}

		if a := n.Autoscale; a != nil {
			node.Scale = &sim.Scale{
				Min:   a.Min,
				Wait:  time.Duration(a.Wait),
				Start: a.Start.Dist,
				Idle:  time.Duration(a.Idle),
			}
		}

		for range n.Count.or1() {
			node.Name = fmt.Sprintf("%s-%d", cmpOr(n.Name, "node"), len(out))
			out = append(out, node)
		}
	}
	return out
}

func (s *Scenario) disruptions() (out []sim.Disruption) {
	for _, d := range s.Disruptions {
		kind := sim.NodeLost
		if d.Kind == "drained" {
			kind = sim.NodeDrained
		}
		out = append(out, sim.Disruption{
			Kind:    kind,
			Node:    d.Node,
			At:      time.Duration(d.At),
			Back:    time.Duration(d.Back),
			Removed: time.Duration(d.Removed),
		})
	}
	return out
}

func (s *Scenario) controlPlane() sim.ControlPlane {
	c := &s.ControlPlane
	out := sim.ControlPlane{
		Latency: c.Latency.Dist, WatchLag: c.WatchLag.Dist, QPS: c.QPS, Burst: c.Burst, Workers: c.Workers,
		Fail: c.Fail, LoseReply: c.LoseReply, KeepMemory: c.KeepMemory, Skew: time.Duration(c.Skew), PodGC: c.PodGC,
	}
	for _, at := range c.Restarts {
		out.Restarts = append(out.Restarts, time.Duration(at))
	}
	for _, o := range c.Outages {
		outage := sim.Outage{Window: sim.Window{From: time.Duration(o.From), For: time.Duration(o.For)}}
		if o.Of == "apiServer" {
			outage.Of = sim.APIServer
		}
		out.Outages = append(out.Outages, outage)
	}
	return out
}

// jobOptions returns the options of the planner of jobs.
func (o *Options) jobOptions() job.Options {
	var out job.Options
	if o.Kubernetes {
		out = job.Kubernetes(release.Newest())
	}
	if p := (backoff.Policy{Base: time.Duration(o.Backoff.Base), Factor: o.Backoff.Factor,
		Max: time.Duration(o.Backoff.Max)}); p != (backoff.Policy{}) {
		out.Backoff = p
	}
	out.PendingTimeout, out.TerminatingTimeout = time.Duration(o.PendingTimeout), time.Duration(o.TerminatingTimeout)
	out.SuccessBeatsDeadline, out.MaxIgnoredFailures = o.SuccessBeatsDeadline, o.MaxIgnoredFailures
	out.Gangs = value.Of(o.Gangs)
	return out
}

// cronOptions returns the options of the planner of CronJobs.
func (o *Options) cronOptions() cronjob.Options {
	var out cronjob.Options
	if o.Kubernetes {
		out = cronjob.Kubernetes(release.Newest())
	}
	_ = out.CatchUp.UnmarshalText([]byte(o.CatchUp)) // check has refused other texts
	out.CatchUpWindow, out.CatchUpLimit = time.Duration(o.CatchUpWindow), o.CatchUpLimit
	out.SkipOnResume, out.SkipHeld, out.MaxActive = o.SkipOnResume, o.SkipHeld, o.MaxActive
	out.ReplaceWhenGone, out.Jitter = o.ReplaceWhenGone, time.Duration(o.Jitter)
	return out
}

// check refuses words that are not among the choices, too few or too many nodes, and a burst
// without QPS. A world without nodes has room for all pods.
func (s *Scenario) check() error {
	refuse := func(path, value, choices string) error {
		return fmt.Errorf("%s: %s: %q: expected %s", s.file, path, value, choices)
	}

	if new(cronjob.CatchUp).UnmarshalText([]byte(s.Options.CatchUp)) != nil {
		return refuse("options.catchUp", s.Options.CatchUp, "Latest, None or All")
	}

	for i, o := range s.ControlPlane.Outages {
		if o.Of != "" && o.Of != "controllers" && o.Of != "apiServer" {
			return refuse(fmt.Sprintf("controlPlane.outages.%d.of", i), o.Of, "controllers or apiServer")
		}
	}
	if c := s.ControlPlane; c.Burst > 0 && c.QPS == 0 {
		return fmt.Errorf("%s: controlPlane.burst: %d: needs qps", s.file, c.Burst)
	}

	if len(s.Nodes) > 0 {
		total := 0
		for i, n := range s.Nodes {
			total += n.Count.or1()
			switch a := n.Autoscale; {
			case a == nil:
			case a.Min > n.Count.or1():
				return fmt.Errorf("%s: nodes.%d.autoscale.min: %d: must not be above the count of %d", s.file, i, a.Min,
					n.Count.or1())
			case n.Lost > 0 || n.Preempted > 0:
				return fmt.Errorf("%s: nodes.%d.autoscale: is not for nodes that are lost or preempted", s.file, i)
			}
		}
		if total == 0 || total > maxCount {
			return fmt.Errorf("%s: nodes: %d in all; expected 1 to %d", s.file, total, maxCount)
		}
	}

	for i, d := range s.Disruptions {
		if d.Kind != "" && d.Kind != "lost" && d.Kind != "drained" {
			return refuse(fmt.Sprintf("disruptions.%d.kind", i), d.Kind, "lost or drained")
		}
	}
	return nil
}
