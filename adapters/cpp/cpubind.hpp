/* cpubind.hpp - hosts, plans and bindings of libcpubind.so.1 for C++17
 * SPDX-License-Identifier: MIT
 *
 *   cpubind::host host = cpubind::host::live();
 *   cpubind::plan plan = host.plan({"rules=near"});
 *   for (std::int32_t device : plan.devices())
 *       use(device, plan.cpus(device, "main"));
 *   cpubind::binding bound = cpubind::binding::bind(host, 0, {"npu=3"});
 *
 * This header owns handles and turns errors into exceptions, and decides nothing: the contract
 * of each call, its options and its error codes are in cpubind_api.h.
 *
 * BUILD     c++ -std=c++17 ... $(pkg-config --cflags --libs cpubind)
 * ERRORS    cpubind::error, with the code, the sentence, the numbers and the JSON of the error;
 *     std::out_of_range for a device or a role that the plan does not have.
 * LIFETIME  Objects can be moved, not copied. What a getter returns as a span or a string_view
 *     belongs to the object and ends with it. A moved-from object may only be destroyed or
 *     assigned to.
 * THREADS   as in cpubind_api.h: any number of threads may read a plan or plan from a host; a
 *     binding belongs to one thread at a time.
 */
#ifndef CPUBIND_HPP
#define CPUBIND_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if __cplusplus >= 202002L
#include <version>
#if defined(__cpp_lib_ranges)
#include <ranges>
#endif
#endif

#include "cpubind_api.h"

namespace cpubind
{

/* Numbers that a plan owns. The same type in each version of C++; in C++20 it converts to
 * std::span<const std::int32_t>. */
class span
{
  public:
    using value_type = std::int32_t;
    using iterator = const std::int32_t *;
    using const_iterator = iterator;
    using reverse_iterator = std::reverse_iterator<iterator>;

    constexpr span() noexcept = default;
    constexpr span(const std::int32_t *first, std::size_t n) noexcept : first_(first), n_(n)
    {
    }

    constexpr const std::int32_t *data() const noexcept
    {
        return first_;
    }
    constexpr std::size_t size() const noexcept
    {
        return n_;
    }
    constexpr bool empty() const noexcept
    {
        return n_ == 0;
    }
    constexpr iterator begin() const noexcept
    {
        return first_;
    }
    constexpr iterator end() const noexcept
    {
        return first_ + n_;
    }
    constexpr reverse_iterator rbegin() const noexcept
    {
        return reverse_iterator(end());
    }
    constexpr reverse_iterator rend() const noexcept
    {
        return reverse_iterator(begin());
    }
    constexpr std::int32_t operator[](std::size_t i) const noexcept
    {
        return first_[i];
    }
    constexpr std::int32_t front() const noexcept
    {
        return first_[0];
    }
    constexpr std::int32_t back() const noexcept
    {
        return first_[n_ - 1];
    }

  private:
    const std::int32_t *first_ = nullptr;
    std::size_t n_ = 0;
};

/* "key=value" texts: the long options of the command without their dashes. */
using options = std::vector<std::string>;

/* Why a call failed. Copies share one object of the library. */
class error : public std::runtime_error
{
  public:
    /* Takes an error that a call of cpubind_api.h has made; the caller does not free it. */
    explicit error(cpb_error *taken)
        : error(std::shared_ptr<const cpb_error>(
              taken, [](const cpb_error *e) { cpb_error_free(const_cast<cpb_error *>(e)); }))
    {
    }

    /* "too_few_cpus": programs decide by it. what() is the sentence of the command. */
    const char *code() const noexcept
    {
        return cpb_error_code(error_.get());
    }

    /* A number such as "need", "have", "device" or "exit"; empty where this error has none. */
    std::optional<std::int32_t> number(const char *name) const noexcept
    {
        const std::int32_t number = cpb_error_number(error_.get(), name);
        return number < 0 ? std::nullopt : std::optional<std::int32_t>(number);
    }

    /* The object that the command prints with --json. */
    const char *json() const noexcept
    {
        return cpb_error_json(error_.get());
    }

  private:
    explicit error(std::shared_ptr<const cpb_error> shared)
        : std::runtime_error(cpb_error_text(shared.get())), error_(std::move(shared))
    {
    }

    std::shared_ptr<const cpb_error> error_;
};

/* What the calls below share; no interface. */
namespace detail
{

template <typename T, void (*release)(T *)> struct releaser {
    void operator()(T *object) const noexcept
    {
        release(object);
    }
};

using host_handle = std::unique_ptr<cpb_host, releaser<cpb_host, cpb_host_close>>;
using plan_handle = std::unique_ptr<cpb_plan, releaser<cpb_plan, cpb_plan_free>>;
using binding_handle = std::unique_ptr<cpb_binding, releaser<cpb_binding, cpb_binding_close>>;
using text_handle = std::unique_ptr<char, releaser<char, cpb_text_free>>;

/* Throws the error of a call. A call that fails without one had no memory even for that. */
[[noreturn]] inline void fail(cpb_error *why)
{
    if (!why)
        throw std::bad_alloc();
    throw error(why);
}

/* The result of a call, unless it failed. */
template <typename T> T *made(T *object, cpb_error *why)
{
    if (!object)
        fail(why);
    return object;
}

inline std::int32_t counted(std::int32_t result, cpb_error *why)
{
    if (result < 0)
        fail(why);
    return result;
}

inline std::int32_t found(std::int32_t result)
{
    if (result < 0)
        throw std::out_of_range(
            "cpubind: the plan has no such device, or there is no such role");
    return result;
}

inline std::optional<std::int32_t> known(std::int32_t number) noexcept
{
    return number < 0 ? std::nullopt : std::optional<std::int32_t>(number);
}

/* Options as the library takes them: pointers, and NULL at the end. */
class option_array
{
  public:
    explicit option_array(const options &texts)
    {
        pointers_.reserve(texts.size() + 1);
        for (const std::string &text : texts)
            pointers_.push_back(text.c_str());
        pointers_.push_back(nullptr);
    }

    const char *const *get() const noexcept
    {
        return pointers_.data();
    }

  private:
    std::vector<const char *> pointers_;
};

inline std::string taken(char *text, cpb_error *why)
{
    const text_handle owner(made(text, why));
    return std::string(owner.get());
}

} /* namespace detail */

/* CPB_ABI of the library that is loaded. */
inline std::int32_t abi() noexcept
{
    return cpb_abi();
}

/* "0.2.0", the version of the library. */
inline const char *version() noexcept
{
    return cpb_version();
}

/* The CPUs of all devices for one role. */
class table
{
  public:
    table(span devices, span row, span cpus) noexcept
        : devices_(devices), row_(row), cpus_(cpus)
    {
    }

    std::size_t size() const noexcept
    {
        return devices_.size();
    }
    std::int32_t device(std::size_t i) const noexcept
    {
        return devices_[i];
    }

    /* The CPUs of device(i). */
    span operator[](std::size_t i) const noexcept
    {
        return {cpus_.data() + row_[i], static_cast<std::size_t>(row_[i + 1] - row_[i])};
    }

  private:
    span devices_, row_, cpus_;
};

/* Which CPUs belong to which device. Never changes. */
class plan
{
  public:
    /* Takes a plan of cpb_plan_make. */
    explicit plan(cpb_plan *taken) noexcept : plan_(taken)
    {
    }

    const cpb_plan *get() const noexcept
    {
        return plan_.get();
    }

    /* The devices that have a pool, ascending. */
    span devices() const
    {
        const std::int32_t *device = nullptr;
        const std::int32_t n = cpb_plan_devices(get(), &device);
        return {device, static_cast<std::size_t>(n < 0 ? 0 : n)};
    }

    /* The device of the rank that the options name. */
    std::optional<std::int32_t> rank_device() const noexcept
    {
        return detail::known(cpb_plan_rank_device(get()));
    }

    /* The CPUs of a device: "pool", "irq", "main", "acl", "release" or "transfer". */
    span cpus(std::int32_t device, const char *role = "pool") const
    {
        const std::int32_t *cpu = nullptr;
        const std::int32_t n = detail::found(cpb_plan_cpus(get(), device, role, &cpu));
        return {cpu, static_cast<std::size_t>(n)};
    }

    /* The CPUs of all devices for one role. */
    cpubind::table table(const char *role = "pool") const
    {
        const std::int32_t *row = nullptr, *cpu = nullptr;
        const auto n =
            static_cast<std::size_t>(detail::found(cpb_plan_table(get(), role, &row, &cpu)));
        const auto n_cpu = n == 0 ? 0 : static_cast<std::size_t>(row[n]);
        return {devices(), span(row, n == 0 ? 0 : n + 1), span(cpu, n_cpu)};
    }

    /* The CPUs as sched_setaffinity(2) takes them, the bytes of an array of unsigned long: on a
     * little-endian machine bit i % 8 of byte i / 8 is CPU i. */
    std::vector<unsigned char> mask(std::int32_t device, const char *role = "pool") const
    {
        const std::int32_t n = detail::found(cpb_plan_mask(get(), device, role, nullptr, 0));
        std::vector<unsigned char> bits(static_cast<std::size_t>(n));
        detail::found(cpb_plan_mask(get(), device, role, bits.data(), bits.size()));
        return bits;
    }

    /* The node for the memory of a device. */
    std::optional<std::int32_t> memory_node(std::int32_t device) const noexcept
    {
        return detail::known(cpb_plan_memory_node(get(), device));
    }

    /* A figure of a device, such as "near_percent"; of the whole plan without a device. */
    std::optional<std::int32_t> quality(const char *figure,
                                        std::int32_t device = -1) const noexcept
    {
        return detail::known(cpb_plan_quality(get(), device, figure));
    }

    /* The JSON of `cpubind plan --json`. */
    std::string_view json() const noexcept
    {
        const char *text = cpb_plan_json(get());
        return text ? std::string_view(text) : std::string_view();
    }

    /* The plan in a format of `cpubind plan --format`, such as "log" or "map". */
    std::string format(const std::string &word) const
    {
        cpb_error *why = nullptr;
        char *text = cpb_plan_format(get(), word.c_str(), &why);
        return detail::taken(text, why);
    }

    /* The sentences of `cpubind plan --explain TARGET`, such as "cpu5" or "npu3". */
    std::string explain(const std::string &target) const
    {
        cpb_error *why = nullptr;
        char *text = cpb_plan_explain(get(), target.c_str(), &why);
        return detail::taken(text, why);
    }

    /* Binds the calling thread alone to the CPUs of a role, without a record. */
    void bind_thread(std::int32_t device, const char *role = "main") const
    {
        cpb_error *why = nullptr;
        const std::int32_t result = cpb_bind_thread(get(), device, role, &why);
        detail::counted(result, why);
    }

  private:
    detail::plan_handle plan_;
};

/* A machine: this one, a folder with its files, or bytes in memory. */
class host
{
  public:
    /* This host as process `pid` sees it; 0: as this process does. */
    static host live(std::int32_t pid = 0)
    {
        cpb_error *why = nullptr;
        cpb_host *opened = cpb_host_live(pid, &why);
        return host(detail::made(opened, why));
    }

    /* A folder, or a file NAME.host, as `cpubind capture -o` writes it. */
    static host folder(const std::string &path)
    {
        cpb_error *why = nullptr;
        cpb_host *opened = cpb_host_folder(path.c_str(), &why);
        return host(detail::made(opened, why));
    }

    /* A host without any input; put adds them. */
    static host empty()
    {
        cpb_error *why = nullptr;
        cpb_host *opened = cpb_host_empty(&why);
        return host(detail::made(opened, why));
    }

    cpb_host *get() const noexcept
    {
        return host_.get();
    }

    /* Adds or replaces an input of an empty host, such as "proc/self/status" or
     * "cmd/npu-smi-info-m.txt"; the bytes are copied. */
    void put(const std::string &name, std::string_view bytes, std::int32_t exit_code = 0)
    {
        cpb_error *why = nullptr;
        const std::int32_t result =
            cpb_host_put(get(), name.c_str(), bytes.data(), bytes.size(), exit_code, &why);
        detail::counted(result, why);
    }

    /* The accelerators of any vendor: the JSON of `cpubind topo --json`. */
    std::string topo(const options &texts = {}) const
    {
        cpb_error *why = nullptr;
        char *text = cpb_host_topo(get(), detail::option_array(texts).get(), &why);
        return detail::taken(text, why);
    }

    /* The plan keeps nothing of the host. */
    cpubind::plan plan(const options &texts = {}) const
    {
        cpb_error *why = nullptr;
        cpb_plan *result = cpb_plan_make(get(), detail::option_array(texts).get(), &why);
        return cpubind::plan(detail::made(result, why));
    }

  private:
    explicit host(cpb_host *taken) noexcept : host_(taken)
    {
    }

    detail::host_handle host_;
};

/* A process that is bound. It stays bound when this object ends: restore() undoes the
 * binding. */
class binding
{
  public:
    /* Binds a process to the CPUs of one device, as `cpubind apply` does; 0: this process. */
    static binding bind(const host &on, std::int32_t pid, const options &texts)
    {
        cpb_error *why = nullptr;
        cpb_binding *bound = cpb_bind(on.get(), pid, detail::option_array(texts).get(), &why);
        return binding(detail::made(bound, why));
    }

    /* Opens a process that is bound, by its record, to verify or to restore it. */
    static binding open(std::int32_t pid, const options &texts = {})
    {
        cpb_error *why = nullptr;
        cpb_binding *bound = cpb_binding_open(pid, detail::option_array(texts).get(), &why);
        return binding(detail::made(bound, why));
    }

    cpb_binding *get() const noexcept
    {
        return binding_.get();
    }

    /* The number of threads and interrupts that are not where they belong. */
    std::int32_t verify()
    {
        cpb_error *why = nullptr;
        const std::int32_t result = cpb_binding_verify(get(), &why);
        return detail::counted(result, why);
    }

    /* Moves back what is not where it belongs; returns how many it moved. */
    std::int32_t again()
    {
        cpb_error *why = nullptr;
        const std::int32_t result = cpb_binding_again(get(), &why);
        return detail::counted(result, why);
    }

    /* Puts all back as it was before the process was bound; returns how many it moved. */
    std::int32_t restore()
    {
        cpb_error *why = nullptr;
        const std::int32_t result = cpb_binding_restore(get(), &why);
        return detail::counted(result, why);
    }

    /* What the last call did, as JSON. */
    std::string json() const
    {
        const char *text = cpb_binding_json(get());
        return text ? std::string(text) : std::string();
    }

  private:
    explicit binding(cpb_binding *taken) noexcept : binding_(taken)
    {
    }

    detail::binding_handle binding_;
};

/* The requests that all CPU workers together may have in flight; a ratio of 0 is 8. */
inline std::int32_t cpu_budget(std::int32_t device_load, std::int32_t n_device,
                               std::int32_t n_cpu_worker, std::int32_t ratio = 0) noexcept
{
    return cpb_cpu_budget(device_load, n_device, n_cpu_worker, ratio);
}

/* Who serves the next request: "device", "cpu" or "nobody". */
inline const char *next_pool(std::int32_t device_load, std::int32_t cpu_load,
                             std::int32_t n_device, std::int32_t n_cpu_worker,
                             std::int32_t ratio = 0) noexcept
{
    return cpb_next_pool(device_load, cpu_load, n_device, n_cpu_worker, ratio);
}

} /* namespace cpubind */

#if defined(__cpp_lib_ranges)
template <> inline constexpr bool std::ranges::enable_borrowed_range<cpubind::span> = true;
#endif

#endif /* CPUBIND_HPP */
