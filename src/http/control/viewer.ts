// Tells for which account a caller of the control API sees models and prices.

import { accountViewer, adminViewer, publicViewer, type Viewer } from '../../admin/offer.ts'
import type { ControlRequest } from './route.ts'

type Signed = Pick<
  ControlRequest<object, object, object>,
  'principal' | 'scope' | 'admin' | 'services'
>

export async function viewerOf({ principal, scope, admin, services }: Signed): Promise<Viewer> {
  const config = services.config()
  if (principal === null) return publicViewer(config)
  const first = services.running.settings()['identity.defaultGroup']
  const { owner, self } = scope
  if (self === null) return adminViewer(config, first)
  const own = await accountViewer(admin, config, self, first)
  return owner === undefined ? { ...own, groups: adminViewer(config, first).groups } : own
}
