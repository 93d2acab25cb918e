// Requests the affected data again when prices have changed.

import type { QueryClient } from '@tanstack/react-query'

const asked = ['/api/prices', '/api/prices/missing', '/api/prices/diff', '/api/models']

export async function refreshPrices(client: QueryClient): Promise<void> {
  await Promise.all(asked.map((path) => client.invalidateQueries({ queryKey: [path] })))
}
