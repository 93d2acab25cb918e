// Where a sign-in continues: only at a page of this console.

/** A path below /console, which begins with a slash; `/` for anything else, such as another site's address. */
export function ownPath(given: string | undefined): string {
  // Browsers read a backslash as a slash, and skip tabs and line ends.
  if (given === undefined || !/^\/(?!\/)[\x21-\x7e]*$/.test(given) || given.includes('\\'))
    return '/'
  const path = given.replace(/^\/console(?=[/?#]|$)/, '') || '/'
  if (!/^\/(?!\/)/.test(path)) return '/'
  return path.startsWith('/sign-in') ? '/' : path
}

export function signInAddress(provider: string, path: string, invitation: string): string {
  const query = new URLSearchParams({
    'return-to': `/console${path}`,
    ...(invitation !== '' && { invitation }),
  })
  return `/api/auth/sign-in/${encodeURIComponent(provider)}?${query}`
}
