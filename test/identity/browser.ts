// A minimal browser for sign-in: it keeps cookies by host, and follows redirects one at a time.

export class Browser {
  readonly #jars = new Map<string, Map<string, string>>()

  /** The value of a cookie of an address; undefined if there is none. */
  cookie(address: string, name: string): string | undefined {
    return this.#jar(address).get(name)
  }

  setCookie(address: string, name: string, value: string): void {
    this.#jar(address).set(name, value)
  }

  /** One request, without following its redirect. */
  async go(address: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    const pairs = [...this.#jar(address)].map(([name, value]) => `${name}=${value}`)
    if (pairs.length > 0) headers.set('cookie', pairs.join('; '))
    const reply = await fetch(address, { ...init, headers, redirect: 'manual' })
    for (const cookie of reply.headers.getSetCookie()) this.#take(address, cookie)
    return reply
  }

  /** Follows redirects until one leads to an address with this beginning, which is returned without a request. */
  async until(prefix: string, address: string): Promise<string> {
    let next = address
    for (let hops = 0; hops < 12; hops += 1) {
      if (next.startsWith(prefix)) return next
      const reply = await this.go(next)
      const location = reply.headers.get('location')
      if (location === null)
        throw new Error(`${next} answered ${reply.status}: ${await reply.text()}`)
      next = new URL(location, next).href
    }
    throw new Error('too many redirects')
  }

  #take(address: string, cookie: string): void {
    const [pair = ''] = cookie.split(';', 1)
    const at = pair.indexOf('=')
    const jar = this.#jar(address)
    const isOver = /;\s*max-age=0(;|$)/i.test(cookie) || /expires=thu, 01 jan 1970/i.test(cookie)
    if (isOver) jar.delete(pair.slice(0, at))
    else jar.set(pair.slice(0, at), pair.slice(at + 1))
  }

  #jar(address: string): Map<string, string> {
    const { origin } = new URL(address)
    const jar = this.#jars.get(origin) ?? new Map<string, string>()
    this.#jars.set(origin, jar)
    return jar
  }
}
