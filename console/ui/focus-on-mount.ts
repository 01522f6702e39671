/**
 * A `ref` that focuses an input when it appears. Browsers ignore the attribute `autofocus` once an
 * element of the page has had the focus.
 */
export const focusOnMount = (input: HTMLInputElement | null): void => input?.focus()
