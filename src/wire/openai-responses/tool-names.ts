// Unique flat names for tools in namespaces, for formats that have no namespaces.

/** Gives each tool of a request a unique name, always the same for the same tools in the same order. */
export class ToolNames {
  private readonly names = new Map<string, string>()
  private readonly taken: Set<string>
  /** Counter that makes equal names distinct. */
  private twins = 1

  /** `plain`: names of tools outside namespaces, which stay unchanged. */
  constructor(plain: Iterable<string>) {
    this.taken = new Set(plain)
  }

  /** The name of a tool in a namespace. */
  inside(namespace: string, name: string): string {
    const joint = namespace.endsWith('__') ? '' : '__'
    return this.claim(`${namespace}\n${name}`, namespace + joint + name)
  }

  /** The name of a built-in tool that has a type and no name. */
  ofType(type: string): string {
    return this.claim(`\n${type}`, type)
  }

  private claim(key: string, wanted: string): string {
    const known = this.names.get(key)
    if (known !== undefined) return known
    let name = wanted
    while (this.taken.has(name)) name = `${wanted}_${++this.twins}`
    this.taken.add(name)
    this.names.set(key, name)
    return name
  }
}
