//! Paths that sheaves count, by their place from [`super::Slabs::STATS_AT`] on.

use crate::cache::paths::Stat;

crate::cache::paths::stats! { 0;
    FREE_RCU_SHEAF "free_rcu_sheaf", // to the sheaf that waits for readers
    FREE_RCU_SHEAF_FAIL "free_rcu_sheaf_fail",
    SHEAF_FLUSH "sheaf_flush", // objects moved from a sheaf to slabs
    SHEAF_REFILL "sheaf_refill", // objects moved from slabs to a sheaf
    SHEAF_ALLOC "sheaf_alloc",
    SHEAF_FREE "sheaf_free",
    BARN_GET "barn_get", // full sheaf from the barn
    BARN_GET_FAIL "barn_get_fail",
    BARN_PUT "barn_put", // full sheaf to the barn
    BARN_PUT_FAIL "barn_put_fail",
}
