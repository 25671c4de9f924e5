package validation

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/batchplan/batchplan/internal/specgen"
)

// update draws the stored spec of a job, the requested one, and the status. The specs differ in up
// to three fields.
func (g *generator) update() (old, next, state object) {
	wrong := g.wrong
	g.wrong = 0
	old = g.jobSpec()
	g.wrong = wrong
	old["manualSelector"], old["selector"] = true, object{"matchLabels": object{"app": "a"}}

	template := old["template"].(object)
	template["metadata"] = object{"labels": object{"app": "a"}}
	for range g.IntN(3) {
		g.changeTemplate(template)
	}
	if g.in100(60) {
		old["suspend"] = true
	}

	next = clone(old)
	for range g.IntN(4) {
		g.changeSpec(next)
	}

	s := newStatus()
	if g.in100(50) {
		s.set("startTime", early)
	}
	if g.in100(50) {
		s.setCondition("Suspended", pick(g, "True", "True", "False"), "JobSuspended")
	}
	if g.in100(25) {
		s.set("active", 1)
	}

	return old, next, s.object()
}

func clone(o object) object { return specgen.Decode[object](o) }

// changeSpec changes a random field of the template or of the spec. A field of the spec gets its
// value from another spec.
func (g *generator) changeSpec(o object) {
	if g.in100(50) {
		template := object(o["template"].(map[string]any))
		g.changeTemplate(template)
		return
	}
	wrong := g.wrong
	g.wrong = min(g.wrong, 3)
	other := clone(g.jobSpec())
	g.wrong = wrong
	field := pick(g, without(specgen.JobFields(), "template")...)
	switch {
	case field == "selector":
		o["selector"] = pick(
			g,
			object{
				"matchLabels":      object{"app": "a"},
				"matchExpressions": []object{{"key": "app", "operator": "Exists"}},
			},
			object{"matchExpressions": []object{{"key": "app", "operator": "Exists"}}},
		)
	case field == "completions" && g.in100(50):
		n := pick(g, 0, 1, 2, 7)
		o["completions"], o["parallelism"] = n, n
	case other[field] == nil:
		delete(o, field)
	default:
		o[field] = other[field]
	}
}

func without(fields []string, some ...string) []string {
	return slices.DeleteFunc(fields, func(f string) bool { return slices.Contains(some, f) })
}

// sub returns the object in a field of another object, and makes it if it is missing.
func sub(o object, field string) object {
	switch v := o[field].(type) {
	case object:
		return v
	case map[string]any:
		return v
	}
	made := object{}
	o[field] = made
	return made
}

func (g *generator) changeTemplate(template object) {
	spec, meta := sub(template, "spec"), sub(template, "metadata")
	word := func() string { return fmt.Sprint("v", g.IntN(3)) }
	container := func(list string) object {
		data, _ := json.Marshal(spec[list])
		var items []object
		if err := json.Unmarshal(data, &items); err != nil || len(items) == 0 {
			return object{}
		}
		spec[list] = items
		return items[0]
	}
	switch g.IntN(13) {
	case 0:
		sub(meta, "labels")["extra"] = word()
	case 1:
		sub(meta, "annotations")["extra"] = word()
	case 2:
		spec["nodeSelector"] = object{"zone": word()}
	case 3:
		delete(spec, "nodeSelector")
	case 4:
		spec["tolerations"] = []object{{"key": word(), "operator": "Exists"}}
	case 5:
		spec["schedulingGates"] = []object{{"name": word()}}
	case 6:
		terms := []object{{"matchExpressions": []object{{"key": "zone", "operator": "In", "values": []string{word()}}}}}
		sub(spec, "affinity")["nodeAffinity"] = object{
			"requiredDuringSchedulingIgnoredDuringExecution": object{"nodeSelectorTerms": terms},
		}
	case 7:
		term := object{"topologyKey": "zone", "labelSelector": object{"matchLabels": object{"app": word()}}}
		sub(spec, "affinity")["podAffinity"] = object{"requiredDuringSchedulingIgnoredDuringExecution": []object{term}}
	case 8:
		delete(spec, "affinity")
	case 9:
		sub(container("containers"), "resources")["limits"] = object{"cpu": fmt.Sprint(1 + g.IntN(2))}
	case 10:
		sub(container("initContainers"), "resources")["requests"] = object{"memory": fmt.Sprint(1+g.IntN(2), "Gi")}
	case 11:
		container("containers")["image"] = word()
	case 12:
		switch g.IntN(3) {
		case 0:
			spec["terminationGracePeriodSeconds"] = 1 + g.IntN(2)
		case 1:
			spec["restartPolicy"] = pick(g, "Never", "OnFailure")
		default:
			meta["finalizers"] = []string{"example.com/" + word()}
		}
	}
}

// cronUpdate draws the stored spec of a CronJob and the requested one.
func (g *generator) cronUpdate() (old, next object) {
	wrong := g.wrong
	g.wrong = max(wrong, 10) // the stored spec may be wrong
	old = g.cronSpec()
	g.wrong = wrong
	next = clone(old)
	other := clone(g.cronSpec())
	for range g.IntN(3) {
		field := pick(g, without(specgen.CronJobFields(), "jobTemplate")...)
		if other[field] == nil {
			delete(next, field)
		} else {
			next[field] = other[field]
		}
	}
	return old, next
}
