// An operator who views as somebody else: the address contains it, and every API request carries it.

export const viewAs = 'view-as'

/** The account; null: no view as somebody else. */
export function viewedAccount(): string | null {
  return new URLSearchParams(location.search).get(viewAs)
}

/** For requests that the browser makes by itself: downloads and event streams. */
export function apiAddress(path: string): string {
  const account = viewedAccount()
  if (account === null) return path
  return `${path}${path.includes('?') ? '&' : '?'}${viewAs}=${encodeURIComponent(account)}`
}
