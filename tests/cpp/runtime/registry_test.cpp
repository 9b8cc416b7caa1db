// The registry of back ends: registering, replacing, finding, and what an unknown name says.
#include "composit/base/error.h"
#include "composit/runtime/backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace composit::runtime {
namespace {

class NamedBackend : public Backend {
  public:
    explicit NamedBackend(std::string name) : name_(std::move(name)) {}
    std::string name() const override { return name_; }
    std::shared_ptr<Executable> compile(const ir::kernel::Program&,
                                        const CompileOptions&) override {
        return nullptr;
    }

  private:
    std::string name_;
};

TEST(Registry, ASecondRegistrationReplacesTheFirst) {
    const auto first = std::make_shared<NamedBackend>("test registry");
    const auto second = std::make_shared<NamedBackend>("test registry");
    register_backend(first);
    EXPECT_EQ(backend("test registry"), first);
    register_backend(second);
    EXPECT_EQ(backend("test registry"), second);
    const std::vector<std::string> names = backend_names();
    EXPECT_EQ(std::count(names.begin(), names.end(), "test registry"), 1);
}

TEST(Registry, AnUnknownNameListsTheAvailableOnes) {
    register_backend(std::make_shared<NamedBackend>("test listed"));
    try {
        backend("test missing");
        FAIL();
    } catch (const KeyError& error) {
        const std::string message = error.what();
        EXPECT_EQ(message.find("backend: there is no back end named 'test missing'. Available: "),
                  0u);
        EXPECT_NE(message.find("test listed"), std::string::npos);
    }
}

TEST(Registry, RefusesNullAndNameless) {
    EXPECT_THROW(register_backend(nullptr), ValueError);
    EXPECT_THROW(register_backend(std::make_shared<NamedBackend>("")), ValueError);
}

TEST(Registry, AFamilyOpensWhenOneOfItIsFirstAskedFor) {
    int opened = 0;
    register_backend_family("test-family", [&] {
        ++opened;
        return BackendFamily{{std::make_shared<NamedBackend>("test-family:0"),
                              std::make_shared<NamedBackend>("test-family:1")},
                             "the third one is switched off"};
    });
    const std::vector<std::string> families = backend_families();
    EXPECT_EQ(std::count(families.begin(), families.end(), "test-family"), 1);
    const std::vector<std::string> names = backend_names();
    EXPECT_EQ(std::count(names.begin(), names.end(), "test-family:0"), 0);
    EXPECT_EQ(opened, 0);
    EXPECT_EQ(backend("test-family")->name(), "test-family:0");
    EXPECT_EQ(backend("test-family:1")->name(), "test-family:1");
    try {
        backend("test-family:2");
        FAIL();
    } catch (const KeyError& error) {
        EXPECT_TRUE(
            std::string(error.what()).ends_with(" test-family: the third one is switched off."))
            << error.what();
    }
    EXPECT_EQ(opened, 1);
}

TEST(Registry, RefusesFamiliesWithoutNameOrFunction) {
    EXPECT_THROW(register_backend_family("", [] { return BackendFamily{}; }), ValueError);
    EXPECT_THROW(register_backend_family("a:0", [] { return BackendFamily{}; }), ValueError);
    EXPECT_THROW(register_backend_family("test-null", nullptr), ValueError);
}

TEST(Registry, ManyThreadsRegisterAndLookUp) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            const std::string name = "test thread " + std::to_string(t);
            for (int i = 0; i < 200; ++i) {
                register_backend(std::make_shared<NamedBackend>(name));
                EXPECT_EQ(backend(name)->name(), name);
            }
        });
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace composit::runtime
