// Names the operations that the audit log records; test/console/audit.test.ts compares them with the control API.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { operations } from '../../api/schema.d.ts'

/** Recorded by the command line and at starts, not by the control API. */
type Elsewhere = 'applyFilePrices' | 'createSignInLink' | 'restartExport' | 'viewAs'

const words = {
  adjustBalance: msg`Credit or debit an account`,
  applyFilePrices: msg`Take over the prices of the configuration file`,
  askChannelBalance: msg`Ask a vendor for the balance`,
  cancelOrder: msg`Cancel an order`,
  cancelPrices: msg`Cancel scheduled prices`,
  changeChannels: msg`Change several channels`,
  checkOrder: msg`Check whether an order is paid`,
  createChannel: msg`Create a channel`,
  createGroup: msg`Create a group`,
  createInvitation: msg`Create an invitation`,
  createKey: msg`Create a key`,
  createManagementKey: msg`Create a management key`,
  createModel: msg`Create a model`,
  createOrder: msg`Create an order`,
  createPlaygroundKey: msg`Get a key for the playground`,
  createRedemptionBatch: msg`Create redemption codes`,
  createSignInLink: msg`Create a sign-in link`,
  deleteChannel: msg`Delete a channel`,
  deleteGroup: msg`Delete a group`,
  deleteHistory: msg`Delete kept messages`,
  deleteKey: msg`Delete a key`,
  deleteManagementKey: msg`Delete a management key`,
  deleteMe: msg`Delete one’s own account`,
  deleteMessage: msg`Delete the kept messages of a request`,
  deleteModel: msg`Delete a model`,
  deletePerson: msg`Delete a user`,
  disableKey: msg`Disable a key`,
  disableManagementKey: msg`Disable a management key`,
  discardSetAside: msg`Discard a record set aside`,
  enableKey: msg`Enable a key`,
  enableManagementKey: msg`Enable a management key`,
  importChannels: msg`Import channels`,
  importPrices: msg`Import prices`,
  inspectHistory: msg`Read somebody’s kept messages`,
  inspectHistoryBlob: msg`Open a file of somebody’s kept messages`,
  listDraftModels: msg`List a vendor’s models for a new channel`,
  listVendorModels: msg`List a vendor’s models`,
  redeemCode: msg`Redeem a code`,
  refundOrder: msg`Refund an order`,
  removeAutoTopUp: msg`Turn off the automatic top-up`,
  restartExport: msg`Restart the export of usage`,
  resumePerson: msg`End a user’s suspension`,
  revokeInvitation: msg`Take back an invitation`,
  revokeRedemptionBatch: msg`Revoke redemption codes`,
  rollbackChannel: msg`Bring back an earlier version of a channel`,
  rollbackGroup: msg`Bring back an earlier version of a group`,
  rollbackModel: msg`Bring back an earlier version of a model`,
  rollbackPrices: msg`Bring back earlier prices`,
  rotateKey: msg`Rotate a key`,
  runAudit: msg`Audit the ledger`,
  setAutoTopUp: msg`Set the automatic top-up`,
  setChannelState: msg`Enable, drain or disable a channel`,
  setHistoryChoice: msg`Choose which messages are kept`,
  setPrices: msg`Set prices`,
  setSetting: msg`Change a setting`,
  settleSetAside: msg`Settle a record set aside`,
  shareRequest: msg`Share a request by a link`,
  signInByLink: msg`Sign in by a one-time link`,
  stopRequest: msg`Stop a running request`,
  suspendPerson: msg`Suspend a user`,
  testChannel: msg`Test a channel`,
  testChannelDraft: msg`Test a channel before it is saved`,
  testPaymentCallback: msg`Test a payment provider’s notification address`,
  testWebhook: msg`Test a webhook`,
  unsetSetting: msg`Set a setting back to its default`,
  updateChannel: msg`Change a channel`,
  updateGroup: msg`Change a group`,
  updateKey: msg`Change a key`,
  updateManagementKey: msg`Change a management key`,
  updateModel: msg`Change a model`,
  updatePerson: msg`Change a user`,
  viewAs: msg`View the console as a user`,
  withdrawPrices: msg`Withdraw set prices`,
} as const satisfies Partial<Record<keyof operations | Elsewhere, MessageDescriptor>>

type Translate = (word: MessageDescriptor) => string

/** An action that this console does not know, such as one of an earlier version of the server, is shown by its id. */
export function actionText(action: string, t: Translate): string {
  return Object.hasOwn(words, action) ? t(words[action as keyof typeof words]) : action
}

/** All actions, sorted by their texts. */
export function actionChoices(t: Translate, language: string): readonly (readonly string[])[] {
  return Object.entries(words)
    .map(([action, word]) => [action, t(word)] as const)
    .sort(([, one], [, other]) => one.localeCompare(other, language))
}
