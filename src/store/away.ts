// Tells errors that mean the store is unreachable or cannot write at present from errors of the call itself.

/**
 * Node's codes; of PostgreSQL's appendix A the classes 08, 53 and 57P, 57014 (statement timeout), and 25P03 (transaction
 * ended because it stood idle); SQLite's codes.
 */
const codes =
  /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|08|53|57P|57014|25P03|SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|READONLY))/
/**
 * Messages of errors without a code: the PostgreSQL driver's, this store's own, and those of either that the ledger's
 * worker passes on as text, behind the error's name.
 */
const messages =
  /^(?:\w*Error: )?(Cannot connect to PostgreSQL|timeout exceeded when trying to connect|Connection terminated|Client (?:has encountered a connection error|was closed) and is not queryable|Query read timeout|The thread of the store has ended|The store is closed|The worker of the ledger has ended|database is locked)/

/** Also checks the error's causes. */
export function isStoreAway(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && codes.test(cause.code)) return true
    if (messages.test(cause.message)) return true
  }
  return false
}
