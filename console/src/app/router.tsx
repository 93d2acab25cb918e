// Every page by its path; the parameters of its address are in the page's own search.ts, and a page loads when it is
// opened.

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type SearchMiddleware,
} from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { viewAs } from '../api/viewing.ts'
import { type Catalog, loadCatalog } from '../i18n.ts'
import { validateAuditSearch } from '../pages/admin-audit/search.ts'
import { validateChannelsSearch } from '../pages/admin-channels/search.ts'
import { validateGroupsSearch } from '../pages/admin-groups/search.ts'
import { validateOperationsSearch } from '../pages/admin-overview/search.ts'
import { validatePricesSearch } from '../pages/admin-prices/search.ts'
import { validateReconcileSearch } from '../pages/admin-reconcile/search.ts'
import { validateAdminSettingsSearch } from '../pages/admin-settings/search.ts'
import { validateUsersSearch } from '../pages/admin-users/search.ts'
import { validateBillingSearch } from '../pages/billing/search.ts'
import { validateGetStartedSearch } from '../pages/get-started/search.ts'
import { validateKeysSearch } from '../pages/keys/search.ts'
import { validateModelsSearch } from '../pages/models/search.ts'
import { validateOrdersSearch } from '../pages/orders/search.ts'
import { validateOverviewSearch } from '../pages/overview/search.ts'
import { validatePlaygroundSearch } from '../pages/playground/search.ts'
import { validateRequestsSearch } from '../pages/requests/search.ts'
import { validateSettingsSearch } from '../pages/settings/search.ts'
import { validateSharedSearch } from '../pages/shared/search.ts'
import { validateSignInSearch } from '../pages/sign-in/search.ts'
import { validateStatusSearch } from '../pages/status/search.ts'
import { validateTopUpSearch } from '../pages/top-up/search.ts'
import { validateUsageSearch } from '../pages/usage/search.ts'
import { RouteFailed } from './failed.tsx'
import { createConsoleHistory } from './history.ts'
import { NotFound } from './not-found.tsx'
import { Root } from './root.tsx'
import { parseSearch, searchOf, stringifySearch, text } from './search.ts'
import { Shell } from './shell.tsx'

/** The exports of a page's index.tsx. */
interface PageModule {
  readonly default: ComponentType
  readonly catalog: Catalog
}

/** The page's code and its texts; both are loaded before it is drawn. */
function page(load: () => Promise<PageModule>) {
  return {
    component: lazyRouteComponent(load),
    loader: async () => loadCatalog((await load()).catalog),
  }
}

interface RootSearch {
  /** Whose data is shown: operators may select one account or all. */
  readonly account?: string | undefined
  /** The account that an operator views as: every API request carries it (`viewing.ts`). */
  readonly 'view-as'?: string | undefined
}

/** They are kept from page to page until they are changed. */
const keepAccount: SearchMiddleware<RootSearch> = ({ search, next }) => ({
  account: search.account,
  [viewAs]: search[viewAs],
  ...next(search),
})

const root = createRootRoute({
  component: Root,
  validateSearch: (given: Record<string, unknown>): RootSearch =>
    searchOf({ account: text, [viewAs]: text })(given),
  search: { middlewares: [keepAccount] },
})
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })
const inShell = { getParentRoute: () => shell } as const

const pages = [
  createRoute({
    ...inShell,
    path: '/',
    validateSearch: validateOverviewSearch,
    ...page(() => import('../pages/overview/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/get-started',
    validateSearch: validateGetStartedSearch,
    ...page(() => import('../pages/get-started/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/usage',
    validateSearch: validateUsageSearch,
    ...page(() => import('../pages/usage/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/requests',
    validateSearch: validateRequestsSearch,
    ...page(() => import('../pages/requests/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/keys',
    validateSearch: validateKeysSearch,
    ...page(() => import('../pages/keys/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/models',
    validateSearch: validateModelsSearch,
    ...page(() => import('../pages/models/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/playground',
    validateSearch: validatePlaygroundSearch,
    ...page(() => import('../pages/playground/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/billing',
    validateSearch: validateBillingSearch,
    ...page(() => import('../pages/billing/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/billing/orders',
    validateSearch: validateOrdersSearch,
    ...page(() => import('../pages/orders/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/admin/payments',
    validateSearch: validateOrdersSearch,
    ...page(() => import('../pages/orders/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/billing/top-up',
    validateSearch: validateTopUpSearch,
    ...page(() => import('../pages/top-up/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/status',
    validateSearch: validateStatusSearch,
    ...page(() => import('../pages/status/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/shared',
    validateSearch: validateSharedSearch,
    ...page(() => import('../pages/shared/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/settings',
    validateSearch: validateSettingsSearch,
    ...page(() => import('../pages/settings/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/admin',
    validateSearch: validateOperationsSearch,
    ...page(() => import('../pages/admin-overview/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/admin/channels',
    validateSearch: validateChannelsSearch,
    ...page(() => import('../pages/admin-channels/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/admin/users',
    validateSearch: validateUsersSearch,
    ...page(() => import('../pages/admin-users/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/admin/prices',
    validateSearch: validatePricesSearch,
    ...page(() => import('../pages/admin-prices/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/admin/groups',
    validateSearch: validateGroupsSearch,
    ...page(() => import('../pages/admin-groups/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/admin/settings',
    validateSearch: validateAdminSettingsSearch,
    ...page(() => import('../pages/admin-settings/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/admin/audit',
    validateSearch: validateAuditSearch,
    ...page(() => import('../pages/admin-audit/index.tsx')),
  }),
  createRoute({
    ...inShell,
    path: '/admin/reconcile',
    validateSearch: validateReconcileSearch,
    ...page(() => import('../pages/admin-reconcile/index.tsx')),
  }),
  // Whoever mistyped an address has the sidebar to go on from.
  createRoute({ ...inShell, path: '$', component: NotFound }),
] as const

/** A filter or an opened item changes a page's address, and the page stays where it is scrolled to. */
function scrollsForPages(): (asked: {
  readonly location: { readonly pathname: string }
}) => boolean {
  let shown: string | null = null
  return ({ location: { pathname } }) => {
    const isOther = pathname !== shown
    shown = pathname
    return isOther
  }
}

/** Without the sidebar: also for those who are not signed in. */
const bare = [
  createRoute({
    getParentRoute: () => root,
    path: '/sign-in',
    validateSearch: validateSignInSearch,
    ...page(() => import('../pages/sign-in/index.tsx')),
  }),
] as const

const routeTree = root.addChildren([shell.addChildren(pages), ...bare])

export function createConsoleRouter() {
  return createRouter({
    routeTree,
    history: createConsoleHistory(),
    basepath: '/console',
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultErrorComponent: RouteFailed,
    scrollRestoration: scrollsForPages(),
    // Search that is the same by content keeps the same object, so that effects do not run again.
    defaultStructuralSharing: true,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>
  }
}
