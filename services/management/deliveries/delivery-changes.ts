import { type ChangeSignal, createChangeSignal } from '../db/change-signal.ts'
import { DELIVERY_CHANNEL } from './outbox.ts'

/** Notices that deliveries were added, so that the scheduler need not ask for them all the time. */
export type DeliveryChanges = ChangeSignal

export const createDeliveryChanges = (): DeliveryChanges => createChangeSignal(DELIVERY_CHANNEL)
