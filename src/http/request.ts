// What a request shows before anything of it is judged.

/** Of a URL that may hold nothing but a path, where the client's Host made no sense. */
export function pathOf(url: string): string {
  const scheme = url.indexOf('://')
  const start = scheme === -1 ? 0 : url.indexOf('/', scheme + 3)
  const path = url.slice(start).split('?', 1)[0] ?? '/'
  return path === '' ? '/' : path
}

export function asksSocket({ headers }: Request): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'websocket'
}
