// An operator who looks as somebody else: it stands in the address, and every question to the API says so.

export const viewAs = 'view-as'

/** The account; null: nobody else is looked as. */
export function viewedAccount(): string | null {
  return new URLSearchParams(location.search).get(viewAs)
}

/** Of what the browser asks for by itself: downloads and event streams. */
export function apiAddress(path: string): string {
  const account = viewedAccount()
  if (account === null) return path
  return `${path}${path.includes('?') ? '&' : '?'}${viewAs}=${encodeURIComponent(account)}`
}
