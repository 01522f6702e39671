import type { ElementTimeouts } from './remote-element.ts'

/** A busy machine must not make elements fail that do not hang. */
export const patient: ElementTimeouts = { loadMs: 60_000, openMs: 60_000, processMs: 60_000 }
export const impatient: ElementTimeouts = { ...patient, processMs: 1000 }
