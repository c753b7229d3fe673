/** The version of this package; the manifest itself would make the bundle larger. */
export const version = "0.1.0";
