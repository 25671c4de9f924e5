package validation

import (
	"math/rand/v2"

	"github.com/batchplan/batchplan/internal/specgen"
)

// generator makes manifests, which depend only on its source.
type generator struct {
	*rand.Rand
	// wrong is the percentage of wrong values.
	wrong int
}

// newGenerator makes the generator of one case. Some cases have many wrong values; most have few,
// so that one wrong value does not hide another.
func newGenerator(seed uint64, number int) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(number)))}
	g.wrong = [...]int{0, 1, 3, 3, 10, 30}[g.IntN(6)]
	return g
}

func (g *generator) in100(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, values ...T) T { return values[g.IntN(len(values))] }

type object = specgen.Object

func (g *generator) specs() specgen.Generator {
	return specgen.Generator{Source: g, Range: specgen.Limits, Wrong: g.wrong}
}

func (g *generator) jobSpec() object { return g.specs().Job() }

func (g *generator) cronSpec() object { return g.specs().CronJob() }

// manifest returns the manifest of a job with a spec and, unless it is nil, a status.
func manifest(spec, status object) object {
	o := document("Job", spec)
	if status != nil {
		o["status"] = status
	}
	return o
}

func cronManifest(spec object) object { return document("CronJob", spec) }

func document(kind string, spec object) object {
	return object{
		"apiVersion": "batch/v1", "kind": kind,
		"metadata": object{
			"name":            "j",
			"namespace":       "default",
			"uid":             "8c5e1d4a-0f5b-4c8e-9d7e-0123456789ab",
			"resourceVersion": "1",
		},
		"spec": spec,
	}
}
