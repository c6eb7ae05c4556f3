package fsm

// Tables returns every table of this program.
func Tables() []Table {
	return []Table{RequestTable(), HTTPRequestTable(), RunTable(), HTTPRunTable()}
}
