// What tests may use of services.mjs.

export interface Service {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a private Valkey or Redis on a free loopback port, kept in memory only. Throws where it is neither there nor to be installed. */
export function startValkey(): Promise<Service>
