// Every route of the control API, a file for each topic.

import type { ControlRoute } from './route.ts'
import { eventRoutes } from './routes/events.ts'
import { historyRoutes } from './routes/history.ts'
import { keyRoutes } from './routes/keys.ts'
import { managementKeyRoutes } from './routes/management-keys.ts'
import { meRoutes } from './routes/me.ts'
import { modelRoutes } from './routes/models.ts'
import { peopleRoutes } from './routes/people.ts'
import { requestRoutes } from './routes/requests.ts'
import { settingRoutes } from './routes/settings.ts'
import { signInRoutes } from './routes/sign-in.ts'
import { statisticsRoutes } from './routes/statistics.ts'
import { whatIfRoutes } from './routes/what-if.ts'

export const controlRoutes: readonly ControlRoute[] = [
  ...eventRoutes,
  ...historyRoutes,
  ...keyRoutes,
  ...managementKeyRoutes,
  ...meRoutes,
  ...modelRoutes,
  ...peopleRoutes,
  ...settingRoutes,
  ...requestRoutes,
  ...signInRoutes,
  ...statisticsRoutes,
  ...whatIfRoutes,
]
