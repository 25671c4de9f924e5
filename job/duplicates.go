package job

import "fmt"

// checkDuplicates refuses two pods with one UID. It looks at all pods, so a round calls
// it only if it is going to write something. Otherwise such a pair does no harm.
func checkDuplicates(pods []Pod, uids *uidTable) error {
	uids.reset(len(pods))
	for i := range pods {
		if uids.add(pods[i].UID, uidSeen) != 0 {
			return invalid(podField(&pods[i], "uid"), string(pods[i].UID), "is the UID of two pods")
		}
	}
	return nil
}

// writesSomething reports whether the plan writes if all goes well.
func writesSomething(plan *Plan) bool {
	if len(plan.Adopt)+len(plan.Release)+len(plan.Delete)+len(plan.Create)+len(plan.Untrack) > 0 {
		return true
	}
	return plan.Record(Writes{}).Write
}

// podField names a field of a pod by what does not depend on the order of the
// snapshot (B3).
func podField(pod *Pod, field string) string { return fmt.Sprintf("pods[%s].%s", pod.Name, field) }
