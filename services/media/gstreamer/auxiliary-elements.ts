/**
 * What the names of elements begin with that hang on a source's pipeline, but not on the way of its packets and frames:
 * when they fail, nothing else does.
 */
export const AUXILIARY = 'aux-'

export const isAuxiliary = (error: { source: string | null }) => error.source?.startsWith(AUXILIARY) ?? false

/** What such a branch begins with: a failure behind it is none to the tee. */
export const errorGuard = (name: string) => `errorignore name=${AUXILIARY}${name}-guard convert-to=ok`
