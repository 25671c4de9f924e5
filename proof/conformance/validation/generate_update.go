package validation

import (
	"encoding/json"
	"fmt"
)

// update draws the spec of a job that a server has, the one that is asked for, and the status.
// They differ in up to three fields.
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
	next = old.clone()
	for range g.IntN(4) {
		g.changeSpec(next)
	}
	s := newStatus()
	if g.in100(50) {
		s.start = early
	}
	if g.in100(50) {
		s.setCondition("Suspended", one(g, []string{"True", "True", "False"}, nil), "JobSuspended")
	}
	if g.in100(25) {
		s.active = 1
	}
	return old, next, s.object()
}

// clone copies an object and all in it.
func (o object) clone() object {
	var out object
	if err := json.Unmarshal(o.json(), &out); err != nil {
		panic(err) // unreachable: there are only plain values
	}
	return out
}

// changeSpec changes a field of a spec by chance: to the value in another spec, or in the template.
func (g *generator) changeSpec(o object) {
	if g.in100(50) {
		template := object(o["template"].(map[string]any))
		g.changeTemplate(template)
		return
	}
	wrong := g.wrong
	g.wrong = min(g.wrong, 3)
	other := g.jobSpec().clone()
	g.wrong = wrong
	field := one(g, []string{"parallelism", "completions", "completions", "completionMode", "backoffLimit", "backoffLimitPerIndex", "maxFailedIndexes",
		"activeDeadlineSeconds", "ttlSecondsAfterFinished", "suspend", "podFailurePolicy", "successPolicy", "podReplacementPolicy", "managedBy", "selector"}, nil)
	switch {
	case field == "selector":
		o["selector"] = one(g, []any{object{"matchLabels": object{"app": "a"}, "matchExpressions": []object{{"key": "app", "operator": "Exists"}}},
			object{"matchExpressions": []object{{"key": "app", "operator": "Exists"}}}}, nil)
	case field == "completions" && g.in100(50):
		n := one(g, []int{0, 1, 2, 7}, nil)
		o["completions"], o["parallelism"] = n, n
	case other[field] == nil:
		delete(o, field)
	default:
		o[field] = other[field]
	}
}

// sub returns an object in another one, and makes it if it is missing.
func (o object) sub(field string) object {
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

// changeTemplate changes one thing in a pod template.
func (g *generator) changeTemplate(template object) {
	spec, meta := template.sub("spec"), template.sub("metadata")
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
		meta.sub("labels")["extra"] = word()
	case 1:
		meta.sub("annotations")["extra"] = word()
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
		spec.sub("affinity")["nodeAffinity"] = object{"requiredDuringSchedulingIgnoredDuringExecution": object{"nodeSelectorTerms": terms}}
	case 7:
		term := object{"topologyKey": "zone", "labelSelector": object{"matchLabels": object{"app": word()}}}
		spec.sub("affinity")["podAffinity"] = object{"requiredDuringSchedulingIgnoredDuringExecution": []object{term}}
	case 8:
		delete(spec, "affinity")
	case 9:
		container("containers").sub("resources")["limits"] = object{"cpu": fmt.Sprint(1 + g.IntN(2))}
	case 10:
		container("initContainers").sub("resources")["requests"] = object{"memory": fmt.Sprint(1+g.IntN(2), "Gi")}
	case 11:
		container("containers")["image"] = word()
	case 12:
		switch g.IntN(3) {
		case 0:
			spec["terminationGracePeriodSeconds"] = 1 + g.IntN(2)
		case 1:
			spec["restartPolicy"] = one(g, []string{"Never", "OnFailure"}, nil)
		default:
			meta["finalizers"] = []string{"example.com/" + word()}
		}
	}
}

// newStatus is the status of a job of which nothing was seen.
func newStatus() *status { return new(status) }

// cronUpdate draws the spec of a CronJob and the one that is asked for.
func (g *generator) cronUpdate() (old, next object) {
	wrong := g.wrong
	g.wrong = max(wrong, 10) // what was there before may be wrong
	old = g.cronSpec()
	g.wrong = wrong
	next = old.clone()
	other := g.cronSpec().clone()
	for range g.IntN(3) {
		field := one(g, []string{"schedule", "timeZone", "startingDeadlineSeconds", "concurrencyPolicy", "suspend", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"}, nil)
		if other[field] == nil {
			delete(next, field)
		} else {
			next[field] = other[field]
		}
	}
	return old, next
}
