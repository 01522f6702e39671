export type {
  BBox,
  Counter,
  Counters,
  DetectedObject,
  EventData,
  Point,
} from '@eyrie/contract/object'
export { detectedObject, eventData, point } from '@eyrie/contract/object'
export { SDK_VERSION } from '@eyrie/contract/sdk-version'
export { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
export type { ViewSpec } from '@eyrie/contract/view'
export { z } from 'zod'
export type { StreamClock } from './clock.ts'
export * from './define.ts'
export type { EventOf, EventSchemas } from './event-schemas.ts'
export * from './frame.ts'
export * from './granted.ts'
export * from './infer.ts'
export * from './inference.ts'
export type { ElementMetrics } from './metrics.ts'
export * from './region.ts'
