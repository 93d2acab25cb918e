// Whether an error says that the store cannot be reached or cannot write now, rather than that the call was wrong.

/** Of connections (Node's codes), of PostgreSQL (classes 08, 53, 57P and 57014 of its appendix A: the last, a statement that took too long), and of SQLite. */
const codes =
  /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|08|53|57P|57014|SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|READONLY))/
/** What the driver of PostgreSQL says without a code. */
const messages =
  /^(Cannot connect to PostgreSQL|timeout exceeded when trying to connect|Connection terminated|Query read timeout|The thread of the store has ended|The store is closed)/

/** Looks at what caused the error, too. */
export function isStoreAway(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && codes.test(cause.code)) return true
    if (messages.test(cause.message)) return true
  }
  return false
}
