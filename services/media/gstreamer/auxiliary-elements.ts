/**
 * Name prefix of auxiliary elements, which neither the packets nor the frames of a source pass through. Their failures affect
 * nothing else. It is short because Linux limits thread names to 15 characters.
 */
export const AUXILIARY = 'aux-'

export const isAuxiliary = (error: { source: string | null }) => error.source?.startsWith(AUXILIARY) ?? false

/** The first element of an auxiliary branch: hides downstream failures from the tee. */
export const errorGuard = (name: string) => `errorignore name=${AUXILIARY}${name}-guard convert-to=ok`
