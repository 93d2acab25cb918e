// The pages that the sidebar, the palette and the keyboard shortcuts lead to.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { IconName } from '../ui/icon.tsx'

export interface NavigationItem {
  readonly to:
    | '/'
    | '/get-started'
    | '/usage'
    | '/requests'
    | '/models'
    | '/playground'
    | '/keys'
    | '/billing'
    | '/settings'
    | '/status'
    | '/admin'
    | '/admin/channels'
    | '/admin/groups'
    | '/admin/prices'
    | '/admin/users'
    | '/admin/settings'
    | '/admin/payments'
    | '/admin/audit'
    | '/admin/reconcile'
  readonly label: MessageDescriptor
  readonly icon: IconName
  /** Only if this feature is turned on. */
  readonly feature?: 'statusPage'
  /** Pressed after `g`. */
  readonly shortcut?: string
}

export const userPages: readonly NavigationItem[] = [
  { to: '/', label: msg`Overview`, icon: 'overview', shortcut: 'o' },
  { to: '/get-started', label: msg`Get started`, icon: 'start', shortcut: 's' },
  { to: '/usage', label: msg`Usage`, icon: 'usage', shortcut: 'u' },
  { to: '/requests', label: msg`Requests`, icon: 'requests', shortcut: 'r' },
  { to: '/models', label: msg`Models`, icon: 'models', shortcut: 'm' },
  { to: '/playground', label: msg`Playground`, icon: 'playground', shortcut: 'p' },
  { to: '/keys', label: msg`API keys`, icon: 'key', shortcut: 'k' },
  { to: '/billing', label: msg`Billing`, icon: 'billing', shortcut: 'b' },
  { to: '/status', label: msg`Status`, icon: 'operations', feature: 'statusPage' },
  { to: '/settings', label: msg`Settings`, icon: 'settings' },
]

export const operatorPages: readonly NavigationItem[] = [
  { to: '/admin', label: msg`Operations`, icon: 'operations', shortcut: 'a' },
  { to: '/admin/channels', label: msg`Channels`, icon: 'channels', shortcut: 'c' },
  { to: '/admin/prices', label: msg`Models and prices`, icon: 'prices' },
  { to: '/admin/groups', label: msg`Groups`, icon: 'groups' },
  { to: '/admin/users', label: msg`Users`, icon: 'users' },
  { to: '/admin/payments', label: msg`Payments`, icon: 'billing' },
  { to: '/admin/audit', label: msg`Audit log`, icon: 'audit' },
  { to: '/admin/reconcile', label: msg`Reconcile`, icon: 'reconcile' },
  { to: '/admin/settings', label: msg`Deployment`, icon: 'settings' },
]

/** Parts of pages that the palette finds by name. */
interface NavigationPart {
  readonly href: string
  readonly label: MessageDescriptor
}

export const userParts: readonly NavigationPart[] = [
  { href: '/billing/top-up', label: msg`Top up` },
  { href: '/billing/orders', label: msg`Orders` },
  { href: '/keys?tab=management', label: msg`Management keys` },
  { href: '/settings?tab=sessions', label: msg`Sessions` },
  { href: '/settings?tab=history', label: msg`Message history` },
  { href: '/settings?tab=alerts', label: msg`Alerts` },
  { href: '/settings?tab=appearance', label: msg`Appearance` },
  { href: '/settings?tab=data', label: msg`My data` },
]

export const operatorParts: readonly NavigationPart[] = [
  { href: '/admin/users?view=invitations', label: msg`Invitations` },
  { href: '/admin/channels?dialog=routing', label: msg`Where would a request go?` },
]
