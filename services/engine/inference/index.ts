export * from './inference.ts'
export type { RingAddress } from './messages.ts'
