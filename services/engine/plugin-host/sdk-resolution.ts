import { registerHooks } from 'node:module'

/** Wherever a plugin lies, `@eyrie/element` is the engine's: called in a thread or process before it loads a plugin. */
export function resolveSdk(): void {
  registerHooks({
    resolve: (specifier, context, next) =>
      /^@eyrie\/element(\/|$)/.test(specifier)
        ? next(specifier, { ...context, parentURL: import.meta.url })
        : next(specifier, context),
  })
}
