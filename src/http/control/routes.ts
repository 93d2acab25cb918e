// The list of all control API routes; each topic has a file of its own.

import type { ControlRoute } from './route.ts'
import { accountRoutes } from './routes/accounts.ts'
import { alertRoutes } from './routes/alerts.ts'
import { autoTopUpRoutes } from './routes/auto-top-up.ts'
import { channelRoutes } from './routes/channels.ts'
import { configurationRoutes } from './routes/configuration.ts'
import { doctorRoutes } from './routes/doctor.ts'
import { eventRoutes } from './routes/events.ts'
import { groupRoutes } from './routes/groups.ts'
import { historyRoutes } from './routes/history.ts'
import { keyRoutes } from './routes/keys.ts'
import { managementKeyRoutes } from './routes/management-keys.ts'
import { meRoutes } from './routes/me.ts'
import { modelRoutes } from './routes/models.ts'
import { operationsRoutes } from './routes/operations.ts'
import { orderReceiptRoutes } from './routes/order-receipt.ts'
import { orderRoutes } from './routes/orders.ts'
import { paymentHealthRoutes } from './routes/payment-health.ts'
import { paymentReturnRoutes } from './routes/payment-return.ts'
import { peopleRoutes } from './routes/people.ts'
import { playgroundRoutes } from './routes/playground.ts'
import { preferenceRoutes } from './routes/preferences.ts'
import { priceRoutes } from './routes/prices.ts'
import { reconcileRoutes } from './routes/reconcile.ts'
import { redemptionRoutes } from './routes/redemption.ts'
import { requestRoutes } from './routes/requests.ts'
import { routingRoutes } from './routes/routing.ts'
import { searchRoutes } from './routes/search.ts'
import { setAsideRoutes } from './routes/set-aside.ts'
import { settingRoutes } from './routes/settings.ts'
import { sharedRequestRoutes } from './routes/shared-requests.ts'
import { signInRoutes } from './routes/sign-in.ts'
import { statementRoutes } from './routes/statements.ts'
import { statisticsRoutes } from './routes/statistics.ts'
import { statusPageRoutes } from './routes/status-page.ts'
import { upkeepRoutes } from './routes/upkeep.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { whatIfRoutes } from './routes/what-if.ts'

export const controlRoutes: readonly ControlRoute[] = [
  ...accountRoutes,
  ...alertRoutes,
  ...autoTopUpRoutes,
  ...channelRoutes,
  ...doctorRoutes,
  ...configurationRoutes,
  ...eventRoutes,
  ...groupRoutes,
  ...historyRoutes,
  ...keyRoutes,
  ...managementKeyRoutes,
  ...meRoutes,
  ...modelRoutes,
  ...operationsRoutes,
  ...orderRoutes,
  ...paymentReturnRoutes,
  ...peopleRoutes,
  ...playgroundRoutes,
  ...preferenceRoutes,
  ...priceRoutes,
  ...reconcileRoutes,
  ...orderReceiptRoutes,
  ...paymentHealthRoutes,
  ...redemptionRoutes,
  ...searchRoutes,
  ...setAsideRoutes,
  ...settingRoutes,
  ...webhookRoutes,
  ...requestRoutes,
  ...sharedRequestRoutes,
  ...routingRoutes,
  ...signInRoutes,
  ...statementRoutes,
  ...statisticsRoutes,
  ...statusPageRoutes,
  ...upkeepRoutes,
  ...whatIfRoutes,
]
