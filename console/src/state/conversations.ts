// Where this browser stores an account's draft and conversations of the playground, and how it forgets them.

export const conversationsKey = (account: string) => `tollgate.playground.${account}`

export function forgetConversations(account: string): void {
  try {
    localStorage.removeItem(conversationsKey(account))
  } catch {
    // Storage is denied: nothing was stored.
  }
}
