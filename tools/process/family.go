package process

type entry struct{ PID, Parent, Group, Session int }

// markVariable is set to a random value in the environment of a watched command. With it, processes are found that
// left the command's session, as those of setsid(1) do.
const markVariable = "MCPPRUNER_COMMAND"

// family is the processes of a command's session, and those with its mark. With the mark "" there are none of the
// latter.
type family struct {
	leader int
	mark   string
}
